#include "runtime/sparse/fragment_order.h"

#include <vector_functions.h>

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/base/half.h"

namespace winnow {
namespace {

using Reads = std::array<std::vector<RowRead>, kFragmentOutputs>;  // of a group's outputs

// Where an output of a group stands among the sets that make it up (AccessOrder): outputs of equal
// turn whose slots one ldmatrix reads are a set.
struct Member {
  std::uint32_t set, place;
};
Member member_of(std::uint32_t output, std::uint32_t bank_groups) {
  const std::uint32_t chunks = 8 / bank_groups;
  return {output / 4 * chunks + fragment_turn(output, chunks), output % 4 / chunks};
}

AccessShape shape_of(std::uint32_t bank_groups) {
  return {.bank_groups = bank_groups, .reads = 2};
}

// Two weights as words of the two rows that they have.
struct Words {
  std::uint32_t rounded, rest;
};
Words words_of(float first, float second) {
  const HalfTerms a = half_terms(first * kFragmentWeightScale);
  const HalfTerms b = half_terms(second * kFragmentWeightScale);
  const auto word = [](Half low, Half high) {
    return low.bits | static_cast<std::uint32_t>(high.bits) << 16;
  };
  return {word(a.high, b.high), word(a.low, b.low)};
}

uint2 rows_of(const Reads& reads, std::uint32_t lane, std::uint32_t first) {
  std::array<std::uint32_t, kFragmentProducts> row{};
  for (std::uint32_t product = 0; product < kFragmentProducts; ++product) {
    const FragmentSlot slot = fragment_slot(lane, product);
    row[product] = reads[slot.output][first + slot.read].row;
  }
  return make_uint2(row[0] | row[1] << 16, row[2] | row[3] << 16);
}

uint4 weights_of(const Reads& reads, std::uint32_t lane, std::uint32_t first) {
  const auto& own = reads[lane / 4];
  const std::uint32_t at = first + fragment_product(lane) * 4;  // two accesses of two reads
  const Words low = words_of(own[at].weight, own[at + 1].weight);
  const Words high = words_of(own[at + 2].weight, own[at + 3].weight);
  return make_uint4(low.rounded, low.rest, high.rounded, high.rest);
}

// The reads of a group, `length` of each output.
Reads reads_of(AccessOrder& accesses, std::span<const std::uint32_t> outputs,
               std::uint32_t bank_groups, std::uint32_t length) {
  const std::uint32_t size = shape_of(bank_groups).outputs();
  std::vector<std::vector<std::uint32_t>> sets(kFragmentOutputs / size,
                                               std::vector<std::uint32_t>(size));
  for (std::uint32_t g = 0; g < kFragmentOutputs; ++g) {
    const Member member = member_of(g, bank_groups);
    sets[member.set][member.place] = outputs[g];
  }
  std::vector<std::vector<std::vector<RowRead>>> of_sets;
  for (const auto& set : sets) of_sets.push_back(accesses.reads_of(set, length));
  Reads reads;
  for (std::uint32_t g = 0; g < kFragmentOutputs; ++g) {
    const Member member = member_of(g, bank_groups);
    reads[g] = std::move(of_sets[member.set][member.place]);
  }
  return reads;
}

}  // namespace

std::vector<std::uint32_t> outputs_of_fragments(const SparseLayer& layer,
                                                std::span<const std::uint32_t> position,
                                                std::uint32_t bank_groups) {
  const AccessShape shape = shape_of(bank_groups);
  std::vector<std::uint32_t> in_sets = AccessOrder(layer, position, shape).outputs_in_sets();
  fill_slice(in_sets, kFragmentOutputs);
  std::vector<std::uint32_t> output(in_sets.size());
  for (std::size_t i = 0; i < output.size(); ++i) {
    const auto g = static_cast<std::uint32_t>(i % kFragmentOutputs);
    const Member member = member_of(g, bank_groups);
    output[i] = in_sets[i - g + member.set * shape.outputs() + member.place];
  }
  return output;
}

bool fits_fragments(const SparseLayer& layer) {
  return fits_half_range(layer.value, kFragmentWeightScale);
}

SliceOrder order_fragments(const SparseLayer& layer, std::span<const std::uint32_t> position,
                           std::vector<std::uint32_t> output, std::uint32_t bank_groups,
                           std::uint32_t unroll) {
  check_half_range(layer.value, kFragmentWeightScale, "tensor cores");
  AccessOrder accesses(layer, position, shape_of(bank_groups));
  return order_slices(
      accesses, std::move(output), kFragmentOutputs, kFragmentReads, unroll,
      [&](std::span<const std::uint32_t> outputs, std::uint32_t length, SliceOrder& order) {
        const Reads reads = reads_of(accesses, outputs, bank_groups, length);
        for (std::uint32_t k = 0; k < length; k += kFragmentReads) {
          for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            order.row.push_back(rows_of(reads, lane, k));
            order.weight.push_back(weights_of(reads, lane, k));
          }
        }
      });
}

}  // namespace winnow
