#include "runtime/gpu/gathered/ring_conv.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/gathered/gathered_format.h"
#include "runtime/gpu/gathered/ring_kernel.cuh"
#include "runtime/gpu/gathered/tensor_map.h"

namespace winnow {
namespace {

using Kernel = void (*)(CUtensorMap, CUtensorMap, RingArguments);

struct Compiled {
  RingForm form;
  int threads = 0;
  Kernel kernel = nullptr;
};

template <std::size_t... kIndices>
std::vector<Compiled> compile_all(std::index_sequence<kIndices...>) {
  return {{kRingForms[kIndices], CompiledForm<kIndices>::kThreads,
           ring_kernel<CompiledForm<kIndices>>}...};
}

const std::vector<Compiled>& all_compiled() {
  static const std::vector<Compiled> all =
      compile_all(std::make_index_sequence<std::size(kRingForms)>());
  return all;
}

const Compiled& kernel_for(const RingTile& tile, const RingBox& box, const Conv& conv) {
  for (const Compiled& candidate : all_compiled()) {
    const RingForm& form = candidate.form;
    if (form.height != tile.height || form.width != tile.width || form.warps != tile.warps)
      continue;
    const bool has_pitch = form.pitch == box.width && has_unit_steps(box, conv);
    if (form.pitch == 0 || has_pitch) return candidate;
  }
  fail(ErrorCode::internal, "no kernel for ", to_string(tile));
}

void check(const RingLayer& layer, const ActivationView& in, const ActivationView* addend,
           const ActivationView& out) {
  const auto require = [](bool is_true, const char* what) {
    if (!is_true) fail(ErrorCode::usage, "ring_conv: ", what);
  };
  require(is_gathered(in.format) && is_gathered(out.format),
          "input or output is not nchw32c8n f16");
  require(in.size.c == layer.problem.conv.in_channels, "the input has other channels");
  require(out.size == ring_output(layer.problem, in.size), "the output has another size");
  require((addend != nullptr) == layer.problem.adds, "an addend where none is added, or none");
  if (addend == nullptr) return;
  require(addend->format == out.format && addend->size == out.size,
          "the addend is not as the output");
  require(layer.problem.pool == RingPool::none, "a sum is not pooled");
}

RingArguments arguments_for(const RingLayer& layer, const ActivationView& in,
                            const ActivationView& out, int sms) {
  RingArguments a = ring_arguments(layer.problem, layer.weights, in.size, sms);
  a.records = layer.records.get();
  a.batches = layer.batches.get();
  a.stage_begin = layer.stage_begin.get();
  a.stage_block = layer.stage_block.get();
  a.addend_begin = layer.addend_begin.get();
  a.place = layer.place.get();
  a.bias = layer.bias.get();
  a.out = out.data;
  return a;
}

}  // namespace

RingLayer upload_ring_layer(RingWeights weights, std::span<const float> bias,
                            const RingProblem& problem) {
  RingLayer layer;
  layer.problem = problem;
  layer.records = upload(weights.records);
  layer.batches = upload(weights.batches);
  layer.stage_begin = upload(weights.stage_begin);
  layer.stage_block = upload(weights.stage_block);
  layer.addend_begin = upload(weights.addend_begin);
  layer.place = upload(weights.place);
  layer.bias = upload(row_biases(weights.channel, bias));
  weights.records = {};
  layer.weights = std::move(weights);
  return layer;
}

std::string ring_missing_reason() {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, all_compiled().front().kernel);
  cudaGetLastError();  // a missing kernel is no failure of later calls
  // Code for older GPUs, which a newer one may translate, has an empty kernel.
  if (status == cudaSuccess && attributes.ptxVersion >= 90) return "";
  return "needs compute capability 9.0, and a program that was compiled for it";
}

void ring_conv(const RingLayer& layer, const ActivationView& in, const ActivationView* addend,
               const ActivationView& out, int sms, cudaStream_t stream) {
  check(layer, in, addend, out);
  const RingProblem& problem = layer.problem;
  const RingBox box = box_of(problem.tile, problem.conv);
  const Compiled& compiled = kernel_for(problem.tile, box, problem.conv);
  const RingArguments arguments = arguments_for(layer, in, out, sms);
  if (arguments.tiles == 0 || arguments.groups == 0) return;
  const CUtensorMap map = tensor_map(input_map(problem, in.size), in.data, box);
  const CUtensorMap addend_map =
      addend == nullptr
          ? map
          : tensor_map(output_map(problem, in.size), addend->data, output_box(problem.tile));
  const auto bytes = static_cast<std::size_t>(shared_bytes(problem.tile, box));
  allow_shared_memory(compiled.kernel, bytes);
  const LaunchSize size{.blocks = static_cast<unsigned>(thread_blocks(arguments)),
                        .threads = static_cast<unsigned>(compiled.threads),
                        .shared_bytes = bytes};
  launch_overlapping(compiled.kernel, size, true, stream, map, addend_map, arguments);
}

}  // namespace winnow
