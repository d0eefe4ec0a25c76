#include "runtime/sparse/lane_order.h"

#include <algorithm>
#include <utility>

namespace winnow {

std::vector<std::uint32_t> outputs_of_lanes(const SparseLayer& layer,
                                            std::span<const std::uint32_t> position,
                                            std::uint32_t bank_groups) {
  std::vector<std::uint32_t> output =
      AccessOrder(layer, position, {.bank_groups = bank_groups}).outputs_in_sets();
  while (output.size() % kLanes != 0) output.push_back(kNoOutput);
  return output;
}

LaneOrder order_lanes(const SparseLayer& layer, std::span<const std::uint32_t> position,
                      std::vector<std::uint32_t> output, std::uint32_t bank_groups,
                      std::uint32_t unroll) {
  AccessOrder accesses(layer, position, {.bank_groups = bank_groups});
  LaneOrder order;
  order.output = std::move(output);
  order.slice_begin.push_back(0);
  const std::uint32_t multiple = kStep * unroll;
  for (std::size_t first = 0; first < order.output.size(); first += kLanes) {
    const auto outputs = std::span(order.output).subspan(first, kLanes);
    std::uint32_t longest = 0;
    for (const std::uint32_t o : outputs) longest = std::max(longest, accesses.connections(o));
    const std::uint32_t length = (longest + multiple - 1) / multiple * multiple;
    const std::size_t begin = order.slice_begin.back();
    order.row.resize(begin + std::size_t{length} * kLanes);
    order.value.resize(order.row.size());
    for (std::uint32_t lane = 0; lane < kLanes; lane += bank_groups) {
      const auto reads = accesses.reads_of(outputs.subspan(lane, bank_groups), length);
      for (std::uint32_t i = 0; i < bank_groups; ++i) {
        for (std::uint32_t k = 0; k < length; ++k) {
          const std::size_t at = begin + std::size_t{k} * kLanes + lane + i;
          order.row[at] = reads[i][k].row;
          order.value[at] = reads[i][k].weight;
        }
      }
    }
    order.steps.push_back(length / kStep);
    order.slice_begin.push_back(static_cast<std::uint32_t>(order.row.size()));
  }
  order.accesses = accesses.accesses();
  order.passes = accesses.passes();
  return order;
}

}  // namespace winnow
