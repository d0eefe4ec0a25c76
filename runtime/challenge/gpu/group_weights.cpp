#include "runtime/challenge/gpu/group_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "runtime/base/error.h"
#include "runtime/base/half.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kFragmentInputs = 16;
constexpr std::uint32_t kLanes = 32;
constexpr float kLargestHalf = 65504;

// The weights of a group's outputs for its inputs, [16][steps x 32], zeros where there is none.
class DenseGroup {
 public:
  DenseGroup(const SparseLayer& layer, const InputGroups& groups, std::uint32_t g, float scale)
      : inputs_(groups.inputs(g)),
        steps_(std::max<std::uint32_t>(
            1, static_cast<std::uint32_t>((inputs_.size() + kStepInputs - 1) / kStepInputs))),
        weight_(std::size_t{kGroupOutputs} * steps_ * kStepInputs) {
    std::uint32_t row = 0;
    for (const std::uint32_t output : groups.outputs(g)) {
      std::size_t at = 0;
      for (std::uint32_t k = layer.row_begin[output]; k < layer.row_begin[output + 1]; ++k) {
        while (inputs_[at] != layer.input[k]) ++at;
        weight_[std::size_t{row} * steps_ * kStepInputs + at] = layer.value[k] * scale;
      }
      ++row;
    }
  }

  std::uint32_t steps() const { return steps_; }
  float weight(std::uint32_t row, std::uint32_t k) const {
    return weight_[std::size_t{row} * steps_ * kStepInputs + k];
  }
  // What fills a step reads the group's first input, with weight 0.
  std::uint32_t input(std::uint32_t k) const {
    if (k < inputs_.size()) return inputs_[k];
    return inputs_.empty() ? 0 : inputs_.front();
  }

 private:
  std::span<const std::uint32_t> inputs_;
  std::uint32_t steps_;
  std::vector<float> weight_;
};

// The half that stands for part `part` of `value`: what is left after the parts before it.
std::uint32_t half_bits(float value, std::uint32_t part) {
  const Half high = to_half(value);
  return part == 0 ? high.bits : to_half(value - to_float(high)).bits;
}

// Weights of a lane in the fragment of the inputs from `k`.
uint4 fragment(const DenseGroup& group, std::uint32_t k, std::uint32_t lane, std::uint32_t part) {
  const std::uint32_t row = lane / 4, column = k + lane % 4 * 2;
  const auto pair = [&](std::uint32_t r, std::uint32_t c) {
    return half_bits(group.weight(r, c), part) | half_bits(group.weight(r, c + 1), part) << 16;
  };
  return {pair(row, column), pair(row + 8, column), pair(row, column + 8),
          pair(row + 8, column + 8)};
}

void append(GroupedLayer& grouped, const DenseGroup& group,
            const std::vector<std::uint32_t>& row_of_input) {
  const auto row = [&](std::uint32_t k) {
    const std::uint32_t input = group.input(k);
    return row_of_input.empty() ? input : row_of_input[input];
  };
  for (std::uint32_t k = 0; k < group.steps() * kStepInputs; k += kFragmentInputs) {
    for (std::uint32_t q = 0; q < 4; ++q) {
      const std::uint32_t at = k + 2 * q;
      grouped.input.push_back({row(at), row(at + 1), row(at + 8), row(at + 9)});
    }
  }
  for (std::uint32_t step = 0; step < group.steps(); ++step) {
    for (std::uint32_t part = 0; part < grouped.parts; ++part) {
      for (std::uint32_t k = 0; k < kStepInputs; k += kFragmentInputs) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          grouped.weight.push_back(fragment(group, step * kStepInputs + k, lane, part));
        }
      }
    }
  }
  grouped.step_begin.push_back(grouped.step_begin.back() + group.steps());
}

std::uint32_t parts_of(const SparseLayer& layer, float scale) {
  std::uint32_t parts = 1;
  for (const float weight : layer.value) {
    const float value = weight * scale;
    if (std::abs(value) > kLargestHalf) {
      fail(ErrorCode::usage, "engine shared: a weight is ", weight, ", at most ",
           kLargestHalf / scale, " fits fp16");
    }
    if (to_float(to_half(value)) != value) parts = 2;
  }
  return parts;
}

}  // namespace

GroupedLayer group_layer(const SparseLayer& layer, const InputGroups& groups,
                         const std::vector<std::uint32_t>& row_of_input) {
  const float scale = row_of_input.empty() ? kActivationScale / kBitValue : 1.0f;
  GroupedLayer grouped{
      .parts = parts_of(layer, scale), .step_begin = {0}, .input = {}, .weight = {}, .bias = {}};
  grouped.bias.resize(std::size_t{groups.size()} * kGroupOutputs);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    append(grouped, DenseGroup(layer, groups, g, scale), row_of_input);
    std::uint32_t row = g * kGroupOutputs;
    for (const std::uint32_t output : groups.outputs(g)) {
      grouped.bias[row++] = layer.bias[output] * kActivationScale;
    }
  }
  return grouped;
}

std::vector<std::uint32_t> rows_of_outputs(const InputGroups& groups) {
  std::vector<std::uint32_t> rows(groups.output.size());
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    std::uint32_t row = g * kGroupOutputs;
    for (const std::uint32_t output : groups.outputs(g)) rows[output] = row++;
  }
  return rows;
}

std::uint32_t GroupedLayer::steps() const {
  const std::uint32_t steps = step_begin[1];
  for (std::uint32_t g = 0; g < groups(); ++g) {
    if (step_begin[g + 1] - step_begin[g] != steps) return 0;
  }
  return steps;
}

bool GroupedLayer::has_positive_bias() const {
  return std::ranges::any_of(bias, [](float b) { return b > 0; });
}

GroupWeights::GroupWeights(const GroupedLayer& layer)
    : step_begin_(upload(layer.step_begin)),
      input_(upload(layer.input)),
      weight_(upload(layer.weight)),
      bias_(upload(layer.bias)) {
  scalars_.groups = layer.groups();
  scalars_.parts = layer.parts;
  scalars_.steps = layer.steps();
  scalars_.has_positive_bias = layer.has_positive_bias();
}

GroupView GroupWeights::view() const {
  GroupView view = scalars_;
  view.step_begin = step_begin_.get();
  view.input = input_.get();
  view.weight = weight_.get();
  view.bias = bias_.get();
  return view;
}

}  // namespace winnow::challenge
