#include "runtime/gpu/stem/stem_conv.h"

#include <limits>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/gathered/gathered_format.h"
#include "runtime/gpu/gathered/ring_launch.h"
#include "runtime/gpu/layer/octet_grid.cuh"
#include "runtime/gpu/stem/stem_kernel.cuh"

namespace winnow {
namespace {

using Kernel = void (*)(StemArguments);

template <typename In, StemOutput kOutput>
Kernel kernel_of(int batches) {
  if (batches == kFewestStemBatches) return stem_kernel<StemForm<kOutput, kFewestStemBatches>, In>;
  return stem_kernel<StemForm<kOutput, 0>, In>;
}

template <typename In>
Kernel kernel_of(StemOutput output, int batches) {
  return output == StemOutput::images ? kernel_of<In, StemOutput::images>(batches)
                                      : kernel_of<In, StemOutput::channels>(batches);
}

void require(bool is_true, const char* what) {
  if (!is_true) fail(ErrorCode::usage, "stem_conv: ", what);
}

bool is_written(const ActivationFormat& format, StemOutput output) {
  if (output == StemOutput::images) return is_gathered(format);
  return format.layout == Layout::nhwc && format.precision == Precision::f16;
}

void check(const StemLayer& layer, const Extents& in, const ActivationView& out) {
  const Conv& conv = layer.problem.conv;
  require(is_written(out.format, layer.problem.output), "the output is of another format");
  require(in.c == conv.in_channels, "the input has other channels");
  require(out.size == conv_output(conv, in), "the output has another size");
  require(out.size.count() == 0 || in.count() > 0, "the input is empty");
}

template <typename In>
void launch(const StemLayer& layer, const In* in, const Extents& size, const ActivationView& out,
            cudaStream_t stream) {
  const StemProblem& problem = layer.problem;
  check(layer, size, out);
  if (out.size.count() == 0) return;
  StemArguments a;
  a.g = stem_geometry(problem.conv, problem.tile, layer.box, size, out);
  a.box_width = FastDivisor(a.g.box_width);
  a.box_height = FastDivisor(a.g.box_height);
  a.in = in;
  a.byte_values = reinterpret_cast<const __half*>(layer.byte_values.get());
  a.weights = reinterpret_cast<const uint4*>(layer.words.get());
  a.offsets = layer.offsets.get();
  a.bias = layer.bias.get();
  a.out = static_cast<__half*>(out.data);
  a.least = problem.has_relu ? 0.0f : -std::numeric_limits<float>::infinity();
  a.is_aligned = has_aligned_octets(out);
  const Kernel kernel = kernel_of<In>(problem.output, a.g.batches);
  const LaunchSize launch_size{
      .blocks = static_cast<unsigned>(a.g.blocks()),
      .threads = kStemThreads,
      .shared_bytes = static_cast<std::size_t>(stem_shared_bytes(problem.conv, layer.box))};
  allow_shared_memory(kernel, launch_size.shared_bytes);
  launch_overlapping(kernel, launch_size, true, stream, a);
}

}  // namespace

StemLayer upload_stem_layer(const StemWeights& weights, std::span<const float> byte_values,
                            const StemProblem& problem) {
  StemLayer layer;
  layer.problem = problem;
  layer.box = stem_box(problem.conv, problem.tile);
  layer.chunks = weights.chunks;
  layer.words = upload(weights.words);
  layer.bias = upload(weights.bias);
  layer.offsets = upload(stem_offsets(problem.conv, layer.box));
  std::vector<std::uint16_t> halves;
  for (const float value : byte_values) halves.push_back(to_half(value).bits);
  layer.byte_values = upload(halves);
  return layer;
}

void stem_conv(const StemLayer& layer, const ActivationView& in, const ActivationView& out,
               cudaStream_t stream) {
  require(in.format == row_major(Precision::f32), "the input is not row-major fp32");
  launch(layer, static_cast<const float*>(in.data), in.size, out, stream);
}

void stem_conv_on_bytes(const StemLayer& layer, const std::uint8_t* in, const Extents& size,
                        const ActivationView& out, cudaStream_t stream) {
  require(layer.byte_values.count() > 0, "the layer was made without values of bytes");
  launch(layer, in, size, out, stream);
}

}  // namespace winnow
