#include "runtime/gpu/gathered/ring_conv.h"

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/gathered/gathered_format.h"
#include "runtime/gpu/gathered/ring_kernel.cuh"
#include "runtime/gpu/gathered/ring_kernels.h"
#include "runtime/gpu/gathered/tensor_map.h"

namespace winnow {
namespace {

constexpr int kLeastMajor = 8;  // mma.m16n8k16, copies by threads that arrive at barriers

template <class Source>
const RingKernel<Source>& kernel_for(const RingTile& tile, const RingBox& box, const Conv& conv) {
  for (const RingKernel<Source>& candidate : ring_kernels<Source>()) {
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

RingBulkSource bulk_source(const RingProblem& problem, const ActivationView& in,
                           const ActivationView* addend) {
  const RingBox box = box_of(problem.tile, problem.conv);
  const CUtensorMap map = tensor_map(input_map(problem, in.size), in.data, box);
  if (addend == nullptr) return {map, map};
  return {map, tensor_map(output_map(problem, in.size), addend->data, output_box(problem.tile))};
}

RingThreadSource thread_source(const RingProblem& problem, const ActivationView& in,
                               const ActivationView* addend) {
  const RingBox box = box_of(problem.tile, problem.conv), out_box = output_box(problem.tile);
  RingThreadSource source;
  source.in = {in.data, input_map(problem, in.size), box.height, box.width};
  if (addend != nullptr) {
    source.addend = {addend->data, output_map(problem, in.size), out_box.height, out_box.width};
  }
  return source;
}

template <class Source>
void launch(const RingProblem& problem, const Source& source, const RingArguments& arguments,
            cudaStream_t stream) {
  const RingBox box = box_of(problem.tile, problem.conv);
  const RingKernel<Source>& compiled = kernel_for<Source>(problem.tile, box, problem.conv);
  const auto bytes = static_cast<std::size_t>(shared_bytes(problem.tile, box));
  allow_shared_memory(compiled.kernel, bytes);
  const LaunchSize size{.blocks = static_cast<unsigned>(thread_blocks(arguments)),
                        .threads = static_cast<unsigned>(compiled.threads),
                        .shared_bytes = bytes};
  launch_overlapping(compiled.kernel, size, true, stream, source, arguments);
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
  const int major = device_attribute(cudaDevAttrComputeCapabilityMajor);
  return major >= kLeastMajor ? "" : "needs compute capability 8.0";
}

void ring_conv(const RingLayer& layer, const ActivationView& in, const ActivationView* addend,
               const ActivationView& out, int sms, GatheredLoads loads, cudaStream_t stream) {
  check(layer, in, addend, out);
  const RingProblem& problem = layer.problem;
  const RingArguments arguments = arguments_for(layer, in, out, sms);
  if (arguments.tiles == 0 || arguments.groups == 0) return;
  if (loads == GatheredLoads::in_bulk) {
    launch(problem, bulk_source(problem, in, addend), arguments, stream);
  } else {
    launch(problem, thread_source(problem, in, addend), arguments, stream);
  }
}

}  // namespace winnow
