#include "runtime/challenge/engines/grouped/layout/weight_fragments.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/base/half.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kLaneBytes = sizeof(uint4);
constexpr std::uint32_t kTermBytes = kStepTermWords * kLaneBytes;

// Where a weight lies in a step's fragments of one term, in bytes, is the sum of these two, by
// PTX's table for mma.m16n8k16: lane 4 (row mod 8) + q holds the columns 2 q, 2 q + 1, 2 q + 8 and
// 2 q + 9, of the row in x and z, of the row 8 below in y and w.
std::uint32_t place_of_row(std::uint32_t row) {
  return row % 8 * 4 * kLaneBytes + row / 8 * 4;
}
std::uint32_t place_of_column(std::uint32_t column) {
  const std::uint32_t fragment = column / 16, c = column % 16;
  return fragment * (kTermBytes / 2) + c % 8 / 2 * kLaneBytes + c / 8 * 8 + c % 2 * 2;
}

using Weights = std::span<const float>;

// By their bits, so that -0 is not 0.
bool are_equal(Weights values) {
  bool is_equal = true;
  for (const float v : values) {
    is_equal &= std::bit_cast<std::uint32_t>(v) == std::bit_cast<std::uint32_t>(values.front());
  }
  return is_equal;
}

std::uint32_t weight_terms(Weights weights, float scale) {
  check_half_range(weights, scale, "engine grouped");
  const bool is_exact = std::ranges::all_of(weights, [scale](float weight) {
    return to_float(to_half(weight * scale)) == weight * scale;
  });
  return is_exact ? 1 : 2;
}

}  // namespace

FragmentWriter::FragmentWriter(const SparseLayer& layer, float scale)
    : layer_(layer), scale_(scale), is_uniform_(are_equal(layer.value)) {
  const bool has_one = is_uniform_ && !layer.value.empty();
  terms_ = weight_terms(has_one ? Weights(layer.value).first(1) : layer.value, scale);
  if (has_one) convert(layer.value.front());
}

void FragmentWriter::write(std::span<const std::uint32_t> outputs,
                           std::span<const std::uint32_t> inputs, const GroupColumns& columns,
                           uint4* to) {
  place_.clear();
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const std::uint32_t step = columns.column(n) / kStepInputs;
    place_.push_back(step * terms_ * kTermBytes + place_of_column(columns.column(n) % kStepInputs));
  }
  if (!is_uniform_) std::ranges::for_each(outputs, [this](auto output) { prefetch(output); });
  auto* bytes = reinterpret_cast<unsigned char*>(to);
  std::uint32_t row = 0;
  for (const std::uint32_t output : outputs) {
    write_row(output, inputs, bytes + place_of_row(row++));
  }
}

// A group's outputs are apart from each other in memory; their weights shall come all at once.
void FragmentWriter::prefetch(std::uint32_t output) const {
  constexpr std::uint32_t kLine = 16;  // weights of a cache line
  for (std::uint32_t k = layer_.row_begin[output]; k < layer_.row_begin[output + 1]; k += kLine) {
    __builtin_prefetch(&layer_.value[k]);
  }
}

void FragmentWriter::write_row(std::uint32_t output, std::span<const std::uint32_t> inputs,
                               unsigned char* row) {
  const std::uint32_t begin = layer_.row_begin[output], end = layer_.row_begin[output + 1];
  const bool has_all = end - begin == inputs.size();  // then there is no need to read which
  std::size_t n = 0;  // the output's inputs are among the group's, and both ascend
  for (std::uint32_t k = begin; k < end; ++k, ++n) {
    while (!has_all && inputs[n] != layer_.input[k]) ++n;
    if (!is_uniform_) convert(layer_.value[k]);
    for (std::uint32_t term = 0; term < terms_; ++term) {
      std::memcpy(row + place_[n] + term * kTermBytes, &halves_[term], sizeof(halves_[term]));
    }
  }
}

void FragmentWriter::convert(float value) {
  const HalfTerms terms = half_terms(value * scale_);
  halves_[0] = terms.high.bits;
  halves_[1] = terms.low.bits;
}

}  // namespace winnow::challenge
