#include "runtime/challenge/engines/reference/compact_layer.h"

#include <algorithm>

#include "runtime/challenge/network.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kNarrowInputs = std::uint32_t{1} << 16;

// The one value of all where there is one.
std::vector<float> compacted(const std::vector<float>& values) {
  const bool are_equal = std::all_of(values.begin(), values.end(),
                                     [&](float value) { return value == values.front(); });
  return are_equal && !values.empty() ? std::vector<float>{values.front()} : values;
}

// Between one element and the next: the one value of all is read again and again.
std::size_t step_of(const std::vector<float>& values) {
  return values.size() == 1 ? 0 : 1;
}

}  // namespace

CompactLayer::CompactLayer(const SparseLayer& layer)
    : row_begin_(layer.row_begin), value_(compacted(layer.value)), bias_(compacted(layer.bias)) {
  if (layer.inputs <= kNarrowInputs) {
    narrow_.assign(layer.input.begin(), layer.input.end());
  } else {
    wide_ = layer.input;
  }
}

void CompactLayer::run(const std::vector<double>& in, std::vector<double>& out) const {
  if (wide_.empty()) {
    run(narrow_, in, out);
  } else {
    run(wide_, in, out);
  }
}

template <typename Index>
void CompactLayer::run(const std::vector<Index>& input, const std::vector<double>& in,
                       std::vector<double>& out) const {
  const std::size_t value_step = step_of(value_), bias_step = step_of(bias_);
  out.resize(row_begin_.size() - 1);
  for (std::size_t j = 0; j < out.size(); ++j) {
    double z = 0;
    for (std::uint32_t k = row_begin_[j]; k < row_begin_[j + 1]; ++k) {
      z += double{value_[k * value_step]} * in[input[k]];
    }
    if (z != 0) z += bias_[j * bias_step];
    out[j] = std::clamp<double>(z, 0, kLargestActivation);
  }
}

}  // namespace winnow::challenge
