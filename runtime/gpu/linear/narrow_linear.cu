#include "runtime/gpu/linear/narrow_linear.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/gathered/gathered_format.h"
#include "runtime/gpu/linear/narrow_kernel.cuh"

namespace winnow {
namespace {

constexpr std::int64_t kBlocksPerSm = 2;

using Kernel = void (*)(NarrowArguments);

template <typename Inputs>
Kernel kernel_for(std::uint32_t tiles) {
  if (tiles == 1) return narrow_linear_kernel<1, Inputs>;
  return tiles == 2 ? narrow_linear_kernel<2, Inputs> : narrow_linear_kernel<4, Inputs>;
}

void check_input(const NarrowInputs& inputs, const ActivationView& x) {
  const bool fits = inputs.is_map ? is_gathered(x.format) && x.size.c == inputs.channels &&
                                        x.size.h * x.size.w == inputs.positions
                                  : is_matrix(x, Layout::nchw, inputs.channels) &&
                                        x.format.precision == Precision::f16;
  if (fits) return;
  fail(ErrorCode::usage, "narrow linear: x is not ",
       inputs.is_map ? "an nchw32c8n f16 map of " : "row-major f16 with ", inputs.channels,
       inputs.is_map ? " channels" : " features");
}

void check(const NarrowLinearLayer& layer, const ActivationView& x, const ActivationView& y,
           int warps) {
  check_input(layer.inputs, x);
  if (!is_matrix(y, Layout::nchw, layer.outputs)) {
    fail(ErrorCode::usage, "narrow linear: y is not row-major with ", layer.outputs, " features");
  }
  if (x.size.n != y.size.n) {
    fail(ErrorCode::usage, "narrow linear: ", x.size.n, " images in, ", y.size.n, " out");
  }
  if (warps < 1 || warps > static_cast<int>(kMostNarrowWarps)) {
    fail(ErrorCode::usage, "narrow linear: ", warps, " warps, expected 1 to ", kMostNarrowWarps);
  }
}

Kernel kernel_of(const NarrowLinearLayer& layer, const void* x) {
  if (layer.inputs.is_map) return kernel_for<MapReader>(layer.tiles);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(x) % 16 == 0;
  return is_aligned && layer.inputs.channels % 8 == 0
             ? kernel_for<RowMajorReader<true>>(layer.tiles)
             : kernel_for<RowMajorReader<false>>(layer.tiles);
}

}  // namespace

NarrowLinearLayer upload_narrow_linear(const NarrowWeights& weights) {
  return {weights.inputs, weights.outputs, weights.tiles, upload(weights.values),
          upload(weights.bias)};
}

void narrow_linear(const NarrowLinearLayer& layer, const ActivationView& x, const ActivationView& y,
                   const NarrowLinearCall& call, cudaStream_t stream) {
  check(layer, x, y, call.warps);
  if (x.size.n == 0) return;
  const std::int64_t groups = divided_up(x.size.n, kNarrowImages);
  const NarrowArguments arguments{
      .weights = reinterpret_cast<const uint4*>(layer.values.get()),
      .bias = layer.bias.get(),
      .x = static_cast<const __half*>(x.data),
      .y = {y.data, layer.outputs, y.format.precision == Precision::f16},
      .chunks = NarrowChunks(layer.inputs),
      .features = static_cast<std::uint32_t>(layer.inputs.count()),
      .images = static_cast<std::uint32_t>(x.size.n),
      .groups = static_cast<std::uint32_t>(groups),
      .epilogue = {lowest_output(call.has_relu)}};
  const std::int64_t blocks = std::min(groups, call.sms * kBlocksPerSm);
  launch_overlapping(
      kernel_of(layer, x.data),
      {.blocks = static_cast<unsigned>(blocks), .threads = static_cast<unsigned>(call.warps * 32)},
      true, stream, arguments);
}

}  // namespace winnow
