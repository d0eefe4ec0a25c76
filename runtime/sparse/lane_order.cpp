#include "runtime/sparse/lane_order.h"

#include <vector_functions.h>

#include <bit>
#include <utility>

namespace winnow {
namespace {

// Step k / kStep of a lane.
void append_step(const std::vector<RowRead>& reads, std::uint32_t k, SliceOrder& order) {
  const auto row = [&](std::uint32_t i) { return reads[k + i].row; };
  const auto word = [&](std::uint32_t i) {
    return std::bit_cast<std::uint32_t>(reads[k + i].weight);
  };
  order.row.push_back(make_uint2(row(0) | row(1) << 16, row(2) | row(3) << 16));
  order.weight.push_back(make_uint4(word(0), word(1), word(2), word(3)));
}

}  // namespace

std::vector<std::uint32_t> outputs_of_lanes(const SparseLayer& layer,
                                            std::span<const std::uint32_t> position,
                                            std::uint32_t bank_groups) {
  std::vector<std::uint32_t> output =
      AccessOrder(layer, position, {.bank_groups = bank_groups}).outputs_in_sets();
  fill_slice(output, kLanes);
  return output;
}

SliceOrder order_lanes(const SparseLayer& layer, std::span<const std::uint32_t> position,
                       std::vector<std::uint32_t> output, std::uint32_t bank_groups,
                       std::uint32_t unroll) {
  AccessOrder accesses(layer, position, {.bank_groups = bank_groups});
  return order_slices(
      accesses, std::move(output), kLanes, kStep, unroll,
      [&](std::span<const std::uint32_t> outputs, std::uint32_t length, SliceOrder& order) {
        std::vector<std::vector<RowRead>> reads;  // [lane]
        for (std::uint32_t lane = 0; lane < kLanes; lane += bank_groups) {
          for (auto& list : accesses.reads_of(outputs.subspan(lane, bank_groups), length)) {
            reads.push_back(std::move(list));
          }
        }
        for (std::uint32_t k = 0; k < length; k += kStep) {
          for (const std::vector<RowRead>& list : reads) append_step(list, k, order);
        }
      });
}

}  // namespace winnow
