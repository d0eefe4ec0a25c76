#include "runtime/challenge/engines/cpu/output_order.h"

#include <algorithm>
#include <numeric>

#include "runtime/challenge/equal_inputs.h"

namespace winnow::challenge {

OutputOrder order_by_inputs(const SparseLayer& layer) {
  const OutputSets sets = find_equal_inputs(layer);
  std::vector<std::size_t> by_first_output(sets.size());
  std::iota(by_first_output.begin(), by_first_output.end(), std::size_t{0});
  std::ranges::sort(by_first_output, {}, [&](std::size_t set) { return sets[set].front(); });
  OutputOrder order{.output = {}, .group_begin = {0}};
  for (const std::size_t set : by_first_output) {
    order.output.insert(order.output.end(), sets[set].begin(), sets[set].end());
    order.group_begin.push_back(static_cast<std::uint32_t>(order.output.size()));
  }
  return order;
}

std::vector<std::uint32_t> places(const OutputOrder& order) {
  std::vector<std::uint32_t> place(order.output.size());
  for (std::uint32_t i = 0; i < place.size(); ++i) place[order.output[i]] = i;
  return place;
}

}  // namespace winnow::challenge
