#include "prune/training/cuda/importances.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "prune/training/cuda/chunk_table.h"
#include "prune/training/cuda/importance_launch.h"
#include "prune/training/cuda/launch_checks.h"

namespace winnow {
namespace {

using Tensors = std::vector<at::Tensor>;

at::Tensor sums_on(const at::Device& device, unsigned chunks) {
  return at::empty({chunks, static_cast<std::int64_t>(sizeof(ImportanceSums) / sizeof(double))},
                   at::TensorOptions().dtype(at::kDouble).device(device));
}

at::Tensor empty_importance(const RankedLayer& layer) {
  auto shape = layer.weight.sizes().vec();
  shape[0] = (shape[0] + layer.vector - 1) / layer.vector;
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat).device(layer.weight.device()));
}

// The gradient in the weight's layout: as a rule it is so.
at::Tensor matched_gradient(const RankedLayer& layer) {
  TORCH_CHECK(layer.gradient.sizes() == layer.weight.sizes() &&
                  layer.gradient.scalar_type() == at::kFloat &&
                  layer.gradient.device() == layer.weight.device(),
              "importances: found a gradient of another shape, type or device than the weight");
  if (layer.gradient.strides() == layer.weight.strides()) return layer.gradient;
  return at::empty_strided(layer.weight.sizes(), layer.weight.strides(), layer.gradient.options())
      .copy_(layer.gradient);
}

void check(const RankedLayer& layer, const at::Device& device) {
  const at::Tensor& weight = layer.weight;
  TORCH_CHECK(layer.vector > 0 && can_rank(weight) && weight.device() == device,
              "importances: found weights of ", weight.scalar_type(), ", shape ", weight.sizes(),
              " and ", weight.device(), " in vectors of ", layer.vector, ", expected f32 on ",
              device);
}

ImportanceLayer entry_of(const RankedLayer& layer, const at::Tensor& importance) {
  const at::Tensor& weight = layer.weight;
  const std::int64_t columns = weight.numel() / weight.size(0);
  const std::int64_t channels = weight.is_contiguous() ? columns : weight.size(1);
  return {.weight = weight.const_data_ptr<float>(),
          .importance = importance.mutable_data_ptr<float>(),
          .rows = static_cast<unsigned>(weight.size(0)),
          .taps = static_cast<unsigned>(columns / channels),
          .channels = static_cast<unsigned>(channels),
          .vector = static_cast<unsigned>(std::min(layer.vector, weight.size(0))),
          .blocks = static_cast<unsigned>(importance.numel()),
          .chunks = chunks_of(static_cast<unsigned>(weight.numel()))};
}

}  // namespace

Tensors importances_by_kernels(std::span<const RankedLayer> layers) {
  if (layers.empty()) return {};
  Tensors importances, gradients;  // gradients live until the launch
  ChunkTable<ImportanceLayer> table;
  const at::Tensor& like = layers[0].weight;
  for (const RankedLayer& layer : layers) {
    check(layer, like.device());
    importances.push_back(empty_importance(layer));
    ImportanceLayer entry = entry_of(layer, importances.back());
    entry.alpha = layer.alpha;
    if (layer.alpha != 0.0 && layer.gradient.defined()) {
      gradients.push_back(matched_gradient(layer));
      entry.gradient = gradients.back().const_data_ptr<float>();
    }
    table.add(entry);
  }
  const bool needs_sums = std::ranges::any_of(layers, &RankedLayer::alpha);
  const at::Tensor on_device = table.on_device(like.device());
  const at::Tensor sums = sums_on(like.device(), needs_sums ? table.chunks() : 0);
  ImportanceCall call = {
      .device = like.device().index(),
      .stream = stream_of(like),
      .sums = needs_sums ? reinterpret_cast<ImportanceSums*>(sums.mutable_data_ptr<double>())
                         : nullptr};
  table.enter(on_device, call);
  require(launch_importances(call));
  return importances;
}

}  // namespace winnow
