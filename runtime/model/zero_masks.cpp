#include "runtime/model/zero_masks.h"

#include <algorithm>
#include <utility>

#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// 1 where a block has a weight that is not 0.
Tensor mask_of(const Tensor& weight, int vector) {
  Shape shape = weight.shape();
  const std::int64_t inner = weight.count() / shape[0];
  shape[0] = (shape[0] + vector - 1) / vector;
  Tensor mask(DataType::u8, shape);
  const auto values = weight.values<float>();
  const auto bits = mask.values<std::uint8_t>();
  for (std::int64_t i = 0; i < weight.count(); ++i) {
    const std::int64_t block = i / inner / vector * inner + i % inner;
    if (values[static_cast<std::size_t>(i)] != 0) bits[static_cast<std::size_t>(block)] = 1;
  }
  return mask;
}

}  // namespace

void mask_zeros(Model& model, int vector) {
  for (const Node& node : model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    const std::string name = weight_name(node) + ".mask";
    model.tensors.erase(name);
    model.mask_vector.erase(node.name);
    Tensor mask = mask_of(model.tensors.at(weight_name(node)), vector);
    const auto bits = std::as_const(mask).values<std::uint8_t>();
    if (std::find(bits.begin(), bits.end(), 0) == bits.end()) continue;
    model.tensors.insert_or_assign(name, std::move(mask));
    model.mask_vector.insert_or_assign(node.name, vector);
  }
}

}  // namespace winnow
