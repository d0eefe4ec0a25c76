// 16 warps compute and one copies. A stage is the weights of 16 groups, one for each computing
// warp. Stage k goes to slot k % slots of every block of the cluster. The blocks take turns to
// copy. A slot is filled again when all computing warps of the cluster are done with it. Layers
// take turns between two buffers of activations.
//
// Row r of a buffer has its images 0 to 7 at place swizzled_row(r), in units of 16 bytes, and 8 to
// 15 at the same place with the lowest bit inverted.
#include "runtime/challenge/engines/grouped/kernels/multilayer_kernel.h"

#include "runtime/challenge/engines/gpu/overlapping_launch.h"
#include "runtime/challenge/engines/grouped/kernels/cluster_copy.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_output.cuh"
#include "runtime/device/attribute.h"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kClusterBlocks = 2;
constexpr std::uint32_t kTileImages = 16;
constexpr std::uint32_t kComputing = kComputeWarps * 32;  // threads
constexpr std::uint32_t kThreads = kComputing + 32;
constexpr std::uint32_t kFewestSlots = 4;
constexpr std::uint32_t kMostSlots = 8;  // stages in shared memory, a multiple of the cluster
constexpr std::uint32_t kTileRowBytes = kTileImages * 2;

// ---------------------------------------------------------------------------------- device

template <int kTerms>
constexpr std::uint32_t kRecordBytes = kTerms* kRecordTermBytes + sizeof(RecordTail);

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

struct Barriers {
  ClusterBarrier full[kMostSlots];   // the stage has arrived in this block
  ClusterBarrier ready[kMostSlots];  // in the block that copies: every other block has freed the
                                     // slot
};

// Hardware barriers of a block: 0 is that of __syncthreads().
constexpr std::uint32_t kComputingBarrier = 1, kEmptyBarrier = 2;  // + slot
static_assert(kEmptyBarrier + kMostSlots <= 16);

// The computing warps are done with a slot; they do not wait.
__device__ __forceinline__ void tell_empty(std::uint32_t slot) {
  asm volatile("bar.arrive %0, %1;" ::"r"(kEmptyBarrier + slot), "n"(kThreads) : "memory");
}
// The copying warp waits until all of them are.
__device__ __forceinline__ void wait_until_empty(std::uint32_t slot) {
  asm volatile("bar.sync %0, %1;" ::"r"(kEmptyBarrier + slot), "n"(kThreads) : "memory");
}

// Where a warp or the copying one is in the ring of slots.
struct Ring {
  std::uint32_t slots, slot = 0, parity = 0;

  __device__ void next() {
    if (++slot == slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ __forceinline__ std::uint32_t stages_of(std::uint32_t groups) {
  return (groups + kComputeWarps - 1) / kComputeWarps;
}

// What the copying warp does for one tile of images. `is_first`: the slots have never been used.
template <int kTerms>
__device__ void copy_stages(const MultilayerLaunch& a, unsigned char* stages, Barriers& barriers,
                            Ring& ring, bool& is_first) {
  constexpr std::uint32_t kRecord = kRecordBytes<kTerms>;
  const std::uint32_t rank = rank_in_cluster();
  for (std::uint32_t l = 0; l < a.count; ++l) {
    const PackedLayerView layer = a.layers[l];
    for (std::uint32_t g = 0; g < layer.groups; g += kComputeWarps) {
      const std::uint32_t bytes = min(kComputeWarps, layer.groups - g) * kRecord;
      ClusterBarrier& full = barriers.full[ring.slot];
      const std::uint32_t copying = ring.slot % kClusterBlocks;
      if (!is_first) wait_until_empty(ring.slot);
      if (threadIdx.x % 32 == 0) {
        expect_bytes(full, bytes);
        if (copying != rank) {
          arrive_at(barriers.ready[ring.slot], copying);
        } else {
          wait_for(barriers.ready[ring.slot], ring.parity);
          copy_to_cluster(stages + ring.slot * kComputeWarps * kRecord,
                          layer.records + std::size_t{g} * kRecord, bytes, full,
                          (1u << kClusterBlocks) - 1);
        }
      }
      __syncwarp();
      ring.next();
      if (ring.slot == 0) is_first = false;
    }
  }
}

__device__ __forceinline__ void load_matrices(std::uint32_t address, std::uint32_t (&m)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void store_matrices(std::uint32_t address, const std::uint32_t (&m)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address),
               "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
               : "memory");
}

// A group for 16 images: sums are in the order of mma's result, [images of 8][...].
template <int kTerms>
__device__ __forceinline__ void compute_group(const unsigned char* record, bool has_positive_bias,
                                              std::uint32_t from, std::uint32_t to) {
  const std::uint32_t lane = threadIdx.x % 32;
  const auto* weights = reinterpret_cast<const uint4*>(record);
  const auto& end = *reinterpret_cast<const RecordTail*>(record + kTerms * kRecordTermBytes);
  const std::uint32_t row = end.input[lane / 8][lane % 8];
  std::uint32_t in[2][4];  // [8 images][8 inputs]
#pragma unroll
  for (std::uint32_t h = 0; h < 2; ++h) load_matrices(from + (row ^ h) * 16, in[h]);
  const float2 bias = *reinterpret_cast<const float2*>(end.bias[lane / 4]);
  float sum[2][4];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h][0] = sum[h][1] = has_positive_bias ? 0.0f : bias.x;
    sum[h][2] = sum[h][3] = has_positive_bias ? 0.0f : bias.y;
  }
#pragma unroll
  for (int term = 0; term < kTerms; ++term) {
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      const uint4 weight = weights[(term * kFragments + f) * 32 + lane];
#pragma unroll
      for (int h = 0; h < 2; ++h) multiply(weight, in[h][2 * f], in[h][2 * f + 1], sum[h]);
    }
  }
  std::uint32_t result[4];  // outputs 0 to 7 and 8 to 15 for 8 images, then the others
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (has_positive_bias) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (sum[h][i] != 0.0f) sum[h][i] += i < 2 ? bias.x : bias.y;
      }
    }
    result[2 * h] = clamped_halves(sum[h][0], sum[h][1]);
    result[2 * h + 1] = clamped_halves(sum[h][2], sum[h][3]);
  }
  store_matrices(to, result);
}

__device__ __forceinline__ void meet_computing() {
  asm volatile("bar.sync %0, %1;" ::"n"(kComputingBarrier), "n"(kComputing) : "memory");
}

// What a computing warp does for one tile: all layers. Returns the buffer of the last one.
template <int kTerms>
__device__ std::uint32_t compute_layers(const MultilayerLaunch& a, const unsigned char* stages,
                                        std::uint32_t buffers, std::uint32_t buffer_bytes,
                                        Barriers& barriers, Ring& ring) {
  constexpr std::uint32_t kRecord = kRecordBytes<kTerms>;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // stmatrix: lanes 0 to 15 name the rows of outputs 0 to 15 for images 0 to 7, the others for the
  // other images.
  const std::uint32_t to_place = (swizzled_row(lane % 16) ^ lane / 16) * 16;
  std::uint32_t from = 0;
  std::uint32_t groups = a.layers[0].groups;
  for (std::uint32_t l = 0; l < a.count; ++l) {
    const std::uint32_t next_groups = a.layers[min(l + 1, a.count - 1)].groups;
    const std::uint32_t in = buffers + from * buffer_bytes;
    const std::uint32_t out = buffers + (from ^ 1) * buffer_bytes;
    for (std::uint32_t g = warp; g < stages_of(groups) * kComputeWarps; g += kComputeWarps) {
      wait_for(barriers.full[ring.slot], ring.parity);
      if (g < groups) {
        compute_group<kTerms>(stages + (ring.slot * kComputeWarps + warp) * kRecord,
                              a.has_positive_bias, in,
                              out + g * kGroupOutputs * kTileRowBytes + to_place);
      }
      tell_empty(ring.slot);
      ring.next();
    }
    meet_computing();
    from ^= 1;
    groups = next_groups;
  }
  return from;
}

// Images of the tile from global memory, or zeros beyond the last.
__device__ void load_tile(const MultilayerLaunch& a, std::uint32_t tile, std::uint32_t images,
                          unsigned char* buffer) {
  const std::uint32_t i = threadIdx.x % kTileImages, place = tile * kTileImages + i;
  const bool is_there = place < images;
  const std::uint32_t number = is_there ? a.number[place] : 0;
  const auto* from = static_cast<const std::uint16_t*>(a.in) +
                     std::size_t{number / kGroupImages} * a.rows * kGroupImages +
                     number % kGroupImages;
  constexpr std::uint32_t kRowsAtOnce = kComputing / kTileImages, kBatch = 16;
  for (std::uint32_t first = threadIdx.x / kTileImages; first < a.in_rows;
       first += kBatch * kRowsAtOnce) {
    std::uint16_t value[kBatch];  // all on their way before the first is needed
#pragma unroll
    for (std::uint32_t k = 0; k < kBatch; ++k) {
      const std::uint32_t r = first + k * kRowsAtOnce;
      value[k] = is_there && r < a.in_rows ? __ldg(from + std::size_t{r} * kGroupImages) : 0;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kBatch; ++k) {
      const std::uint32_t r = first + k * kRowsAtOnce;
      if (r >= a.in_rows) break;
      *reinterpret_cast<std::uint16_t*>(buffer + (swizzled_row(r) ^ i / 8) * 16 + i % 8 * 2) =
          value[k];
    }
  }
}

// Rows to global memory; `seen`, 0 before, gets what is not 0 of each image.
__device__ void store_tile(const MultilayerLaunch& a, std::uint32_t tile,
                           const unsigned char* buffer, std::uint32_t (&seen)[8]) {
  const std::uint32_t h = threadIdx.x % 2, place = tile * kTileImages;
  const std::uint32_t rows = a.layers[a.count - 1].groups * kGroupOutputs;
  auto* to =
      static_cast<unsigned char*>(a.out) +
      (std::size_t{place / kGroupImages} * a.rows * kGroupImages + place % kGroupImages) * 2 +
      h * 16;
  uint4 all{};
  for (std::uint32_t r = threadIdx.x / 2; r < rows; r += kComputing / 2) {
    const uint4 v = *reinterpret_cast<const uint4*>(buffer + (swizzled_row(r) ^ h) * 16);
    *reinterpret_cast<uint4*>(to + std::size_t{r} * kRowBytes) = v;
    all = make_uint4(all.x | v.x, all.y | v.y, all.z | v.z, all.w | v.w);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    std::uint32_t word = word_of(all, k);
#pragma unroll
    for (int distance = 2; distance < 32; distance *= 2) {
      word |= __shfl_xor_sync(kAllLanes, word, distance);
    }
    if (threadIdx.x % 32 < 2 && word != 0) atomicOr(&seen[4 * h + k], word);
  }
}

__device__ void tell_tile_alive(const MultilayerLaunch& a, std::uint32_t tile, std::uint32_t images,
                                const std::uint32_t (&seen)[8]) {
  std::uint32_t bits = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) bits |= has_bits(seen[k]) << 2 * k;
  const std::uint32_t place = tile * kTileImages;
  const std::uint32_t there = images > place ? images - place : 0;
  if (there < kTileImages) bits &= (1u << there) - 1;
  or_into(a.alive + place / 32, bits << place % 32);
}

#endif

template <int kTerms>
__global__ void __launch_bounds__(kThreads, 1)
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
  config.blockDim = dim3(kThreads);
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
