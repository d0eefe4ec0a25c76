#include "runtime/gpu/linear/linear_gather.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/device/overlap.cuh"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/linear/linear_epilogue.cuh"
#include "runtime/sparse/gather_rows.cuh"

namespace winnow {
namespace {

constexpr int kThreads = 256;
constexpr int kTileImages = packed_images(Layout::chwn32);

// ---------------------------------------------------------------------------------- device

struct GatherArguments {
  GatherView weights;
  const void* x;
  void* y;
  std::uint32_t tiles;
  LinearEpilogue epilogue;
};

// A group of lanes makes one output of a tile. Blocks that run together work on few tiles, so that
// these stay in the L2 cache.
template <typename T>
__global__ void __launch_bounds__(kThreads) linear_gather_kernel(const GatherArguments a) {
  begin_next_launch();
  constexpr int kImages = Chunk<T>::kImages;
  constexpr std::uint32_t kLanes = kTileImages / kImages;
  const std::uint32_t image = threadIdx.x % kLanes * kImages;
  const std::uint32_t place = blockIdx.x * (kThreads / kLanes) + threadIdx.x / kLanes;
  if (place >= a.weights.outputs) return;
  const float bias = __ldg(a.weights.bias + place);
  const std::uint32_t output = __ldg(a.weights.output + place);
  wait_for_launch_before();
  for (std::uint32_t tile = blockIdx.y; tile < a.tiles; tile += gridDim.y) {
    const T* x = static_cast<const T*>(a.x) + std::size_t{tile} * a.weights.inputs * kTileImages;
    T* y = static_cast<T*>(a.y) + (std::size_t{tile} * a.weights.outputs + output) * kTileImages;
    float sum[1][kImages] = {};  // all units are singles
    add_rows<kTileImages>(a.weights, place, x + image, sum);
    activate(a.epilogue, bias, sum[0]);
    *reinterpret_cast<uint4*>(y + image) = Chunk<T>::pack(sum[0]);
  }
}

// ------------------------------------------------------------------------------------ host

template <typename T>
void launch(const GatherArguments& arguments, cudaStream_t stream) {
  constexpr std::uint32_t kOutputs = kThreads / (kTileImages / Chunk<T>::kImages);
  const dim3 grid((arguments.weights.outputs + kOutputs - 1) / kOutputs,
                  std::min(arguments.tiles, 65535u));
  launch_overlapping(linear_gather_kernel<T>, {grid, kThreads}, true, stream, arguments);
}

void check(const ActivationView& view, std::uint32_t features, const char* name) {
  if (!is_matrix(view, Layout::chwn32, features)) {
    fail(ErrorCode::usage, "linear gather: ", name, " is not chwn32 with ", features, " features");
  }
}

}  // namespace

LinearGatherWeights::LinearGatherWeights(const SparseLayer& layer)
    : layout_(layer), data_(upload(pack_for_gather(layer, layout_))) {}

void linear_gather(const LinearGatherWeights& weights, const ActivationView& x,
                   const ActivationView& y, bool has_relu, cudaStream_t stream) {
  const GatherView view = weights.view();
  check(x, view.inputs, "x");
  check(y, view.outputs, "y");
  if (x.size.n != y.size.n || x.format.precision != y.format.precision) {
    fail(ErrorCode::usage, "linear gather: x and y differ in images or precision");
  }
  const auto tiles = static_cast<std::uint32_t>((x.size.n + kTileImages - 1) / kTileImages);
  if (tiles == 0 || view.outputs == 0) return;
  const GatherArguments arguments{view, x.data, y.data, tiles, {lowest_output(has_relu)}};
  if (x.format.precision == Precision::f16) {
    launch<__half>(arguments, stream);
  } else {
    launch<float>(arguments, stream);
  }
}

}  // namespace winnow
