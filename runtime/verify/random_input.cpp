#include "runtime/verify/random_input.h"

#include "runtime/base/random.h"

namespace winnow {

std::vector<float> random_input(const DeployedModel& model, const Shape& shape,
                                std::uint64_t seed) {
  const auto& op = std::get<Input>(model.graph.nodes.front().op);
  std::int64_t rows = 1;
  for (const Node& node : model.graph.nodes) {
    if (const auto* table = std::get_if<Embedding>(&node.op)) rows = table->rows;
  }
  Random random(seed);
  std::vector<float> input(static_cast<std::size_t>(element_count(shape)));
  for (float& x : input) {
    x = op.is_tokens ? static_cast<float>(random.between(0, rows - 1))
                     : static_cast<float>(random.normal());
  }
  return input;
}

}  // namespace winnow
