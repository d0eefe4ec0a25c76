// The kernel itself, whose pieces are the .cuh files beside it, and its launch.
#include "runtime/challenge/engines/grouped/kernels/multilayer_kernel.h"

#include "runtime/challenge/engines/grouped/kernels/multilayer_layers.cuh"
#include "runtime/challenge/engines/grouped/kernels/multilayer_ring.cuh"
#include "runtime/challenge/engines/grouped/kernels/multilayer_tiles.cuh"
#include "runtime/device/attribute.h"
#include "runtime/device/cuda_check.h"
#include "runtime/device/overlapping_launch.h"

namespace winnow::challenge {
namespace {

// ---------------------------------------------------------------------------------- device

template <int kTerms>
__global__ void __launch_bounds__(kBlockThreads, 1)
    multilayer_kernel(const MultilayerLaunch a, std::uint32_t slots, std::uint32_t buffer_bytes) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Barriers barriers;
  __shared__ std::uint32_t seen[8];
  const bool is_computing = threadIdx.x < kComputing;
  unsigned char* const stages = memory + 2 * buffer_bytes;
  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < slots; ++s) {
      init_barrier(barriers.full[s], 1);
      init_barrier(barriers.ready[s], kClusterBlocks - 1);
    }
    publish_barriers();
  }
  meet_in_cluster();
  const std::uint32_t images = *a.images;
  const std::uint32_t rank = rank_in_cluster();
  Ring ring{slots};
  bool is_first = true;
  // All blocks of a cluster take equally many tiles, because each copies for all.
  for (std::uint32_t first = blockIdx.x - rank; first * kTileImages < images; first += gridDim.x) {
    if (!is_computing) {
      copy_stages<kTerms>(a, stages, barriers, ring, is_first);
      continue;
    }
    const std::uint32_t tile = first + rank;
    if (threadIdx.x < 8) seen[threadIdx.x] = 0;
    load_tile(a, tile, images, memory);
    meet_computing();
    const std::uint32_t last =
        compute_layers<kTerms>(a, stages, shared_address(memory), buffer_bytes, barriers, ring);
    if (tile * kTileImages < images) store_tile(a, tile, memory + last * buffer_bytes, seen);
    meet_computing();
    if (threadIdx.x == 0) tell_tile_alive(a, tile, images, seen);
    meet_computing();
  }
  if (!is_computing) {
    for (std::uint32_t s = 0; s < (is_first ? ring.slot : slots); ++s) wait_until_empty(s);
  }
  meet_in_cluster();  // nobody writes to a block that has ended
#endif
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(MultilayerLaunch, std::uint32_t, std::uint32_t);

Kernel kernel_for(std::uint32_t weight_terms) {
  return weight_terms == 2 ? multilayer_kernel<2> : multilayer_kernel<1>;
}

struct Shape {
  std::uint32_t slots = 0;  // 0: does not fit
  std::uint32_t buffer_bytes = 0;
  std::size_t shared_bytes = 0;
};

Shape shape_of(std::uint32_t most_groups, std::uint32_t weight_terms) {
  constexpr std::size_t kStatic = 1024;  // at most
  const std::size_t buffer = std::size_t{most_groups} * kGroupOutputs * kTileRowBytes;
  for (std::uint32_t slots = kMostSlots; slots >= kFewestSlots; slots -= kClusterBlocks) {
    const std::size_t bytes = 2 * buffer + slots * kComputeWarps * record_bytes(weight_terms);
    if (fits_shared_memory(bytes + kStatic)) {
      return {slots, static_cast<std::uint32_t>(buffer), bytes};
    }
  }
  return {};
}

// Calls `use(config)` with a configuration of one cluster; more by its grid.
template <typename Use>
void with_config(const Shape& shape, Use use) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kClusterBlocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kClusterBlocks);
  config.blockDim = dim3(kBlockThreads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  use(config);
}

int most_clusters(std::uint32_t weight_terms, const Shape& shape) {
  const Kernel kernel = kernel_for(weight_terms);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shape.shared_bytes)));
  int clusters = 0;
  with_config(shape, [&](const cudaLaunchConfig_t& config) {
    CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
  });
  return clusters;
}

// This file is compiled for compute capability 9.0 alone.
bool is_compiled_for_gpu() {
  return device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
         device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
}

}  // namespace

std::uint32_t most_multilayer_groups(std::uint32_t weight_terms) {
  if (!is_compiled_for_gpu()) return 0;
  std::uint32_t most = 0;
  while (shape_of(most + 1, weight_terms).slots > 0) ++most;
  return most > 0 && most_clusters(weight_terms, shape_of(most, weight_terms)) > 0 ? most : 0;
}

void launch_multilayer(const MultilayerLaunch& launch, cudaStream_t stream) {
  const Shape shape = shape_of(launch.most_groups, launch.weight_terms);
  const int clusters = shape.slots > 0 ? most_clusters(launch.weight_terms, shape) : 0;
  if (clusters == 0) {
    fail(ErrorCode::device, "layers of ", launch.most_groups, " groups do not fit an SM");
  }
  with_config(shape, [&](cudaLaunchConfig_t& config) {
    config.gridDim = dim3(static_cast<unsigned>(clusters) * kClusterBlocks);
    config.stream = stream;
    CUDA_CHECK(cudaLaunchKernelEx(&config, kernel_for(launch.weight_terms), launch, shape.slots,
                                  shape.buffer_bytes));
  });
}

}  // namespace winnow::challenge
