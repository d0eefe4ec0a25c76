#include "runtime/challenge/engines/grouped/group_weights.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/challenge/engines/grouped/group_parts.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kFragmentInputs = 16;
constexpr std::uint32_t kLanes = 32;
constexpr float kLargestHalf = 65504;

// The inputs of a part of groups, and the local numbers under which they are read.
class PartInputs {
 public:
  PartInputs(const InputGroups& groups, std::uint32_t first_group,
             const std::vector<std::uint32_t>& row_of_input)
      : input_(inputs_of_part(groups, first_group, row_of_input)) {
    if (input_.empty()) input_.push_back(0);  // what fills a step reads the first
    for (std::uint32_t n = 0; n < input_.size(); ++n) numbers_.push_back({input_[n], n});
    std::ranges::sort(numbers_, {}, &Number::input);
  }

  const std::vector<std::uint32_t>& inputs() const { return input_; }

  // A group's inputs in the order of columns, by local number.
  std::vector<std::uint32_t> columns(std::span<const std::uint32_t> inputs) const {
    std::vector<std::uint32_t> local;
    for (const std::uint32_t i : inputs) {
      local.push_back(std::ranges::lower_bound(numbers_, i, {}, &Number::input)->number);
    }
    std::ranges::sort(local);
    return in_order_of_columns(local);
  }

 private:
  struct Number {
    std::uint32_t input, number;
  };
  std::vector<std::uint32_t> input_;  // by local number
  std::vector<Number> numbers_;       // by input
};

// The weights of a group's outputs for its inputs, [16][steps x 32], zeros where there is none.
class DenseGroup {
 public:
  DenseGroup(const SparseLayer& layer, const InputGroups& groups, std::uint32_t g,
             const PartInputs& part, float scale)
      : column_(part.columns(groups.inputs(g))),
        steps_(std::max<std::uint32_t>(
            1, static_cast<std::uint32_t>((column_.size() + kStepInputs - 1) / kStepInputs))),
        weight_(std::size_t{kGroupOutputs} * steps_ * kStepInputs) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> column_of;  // input, column
    for (std::uint32_t k = 0; k < column_.size(); ++k) {
      column_of.emplace_back(part.inputs()[column_[k]], k);
    }
    std::ranges::sort(column_of);
    std::uint32_t row = 0;
    for (const std::uint32_t output : groups.outputs(g)) {
      std::size_t at = 0;
      for (std::uint32_t k = layer.row_begin[output]; k < layer.row_begin[output + 1]; ++k) {
        while (column_of[at].first != layer.input[k]) ++at;
        weight_[std::size_t{row} * steps_ * kStepInputs + column_of[at].second] =
            layer.value[k] * scale;
      }
      ++row;
    }
  }

  std::uint32_t steps() const { return steps_; }
  float weight(std::uint32_t row, std::uint32_t k) const {
    return weight_[std::size_t{row} * steps_ * kStepInputs + k];
  }
  // Local number of the input of column k. What fills a step reads the group's first, weight 0.
  std::uint32_t local(std::uint32_t k) const {
    if (k < column_.size()) return column_[k];
    return column_.empty() ? 0 : column_.front();
  }

 private:
  std::vector<std::uint32_t> column_;
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

// `row`: of the part's inputs, by local number.
void append(GroupedLayer& grouped, const DenseGroup& group, const std::vector<std::uint32_t>& row) {
  for (std::uint32_t k = 0; k < group.steps() * kStepInputs; k += kFragmentInputs) {
    for (std::uint32_t q = 0; q < 4; ++q) {
      const std::uint32_t at = k + 2 * q;
      const std::uint32_t local[4] = {group.local(at), group.local(at + 1), group.local(at + 8),
                                      group.local(at + 9)};
      grouped.input.push_back({row[local[0]], row[local[1]], row[local[2]], row[local[3]]});
      const auto pair = [&](std::uint32_t a, std::uint32_t b) {
        return (staged_row(a) & 0xffff) | staged_row(b) << 16;
      };
      grouped.local.push_back({pair(local[0], local[1]), pair(local[2], local[3])});
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

// The groups that a part reads, by number.
std::vector<std::uint32_t> groups_read(const GroupedLayer& layer, std::size_t part) {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t i = layer.part_begin[part]; i < layer.part_begin[part + 1];
       i += kGroupOutputs) {
    groups.push_back(layer.part_row[i] / kGroupOutputs);
  }
  return groups;
}

void add_part_reads(GroupedLayer& layer) {
  const std::size_t parts = layer.part_begin.size() - 1;
  layer.part_group.resize(parts * kMostPartReads);
  std::vector<std::uint32_t> before;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::vector<std::uint32_t> groups = groups_read(layer, p);
    const auto count = static_cast<std::uint32_t>(groups.size());
    std::uint32_t bits = count, here = count;
    for (std::uint32_t i = 0; i < count && here == count; ++i) {
      const auto there = std::ranges::find(before, groups[i]);
      if (there == before.end()) continue;
      here = i;
      bits |=
          i << 8 | static_cast<std::uint32_t>(there - before.begin()) << 16 | PartReads::kIsShared;
    }
    std::uint32_t* entry = layer.part_group.data() + p * kMostPartReads;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i != here) *entry++ = part_group_entry(groups[i], i);
    }
    if (here < count) *entry = part_group_entry(groups[here], here);
    layer.part_reads.push_back(bits);
    before = groups;
  }
}

}  // namespace

GroupedLayer group_layer(const SparseLayer& layer, const InputGroups& groups,
                         const std::vector<std::uint32_t>& row_of_input) {
  const float scale = row_of_input.empty() ? kActivationScale / kBitValue : 1.0f;
  GroupedLayer grouped;
  grouped.parts = parts_of(layer, scale);
  grouped.bias.resize(std::size_t{groups.size()} * kGroupOutputs);
  for (std::uint32_t first = 0; first < groups.size(); first += kPartGroups) {
    const PartInputs part(groups, first, row_of_input);
    std::vector<std::uint32_t> rows = part.inputs();
    if (!row_of_input.empty()) {
      for (std::uint32_t& row : rows) row = row_of_input[row];
    }
    for (std::uint32_t g = first; g < std::min(first + kPartGroups, groups.size()); ++g) {
      append(grouped, DenseGroup(layer, groups, g, part, scale), rows);
      std::uint32_t row = g * kGroupOutputs;
      for (const std::uint32_t output : groups.outputs(g)) {
        grouped.bias[row++] = layer.bias[output] * kActivationScale;
      }
    }
    grouped.part_row.insert(grouped.part_row.end(), rows.begin(), rows.end());
    grouped.part_begin.push_back(static_cast<std::uint32_t>(grouped.part_row.size()));
  }
  if (grouped.reads_whole_groups() && grouped.most_part_rows() <= kMostPartReads * kGroupOutputs) {
    add_part_reads(grouped);
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

std::uint32_t GroupedLayer::most_part_rows() const {
  std::uint32_t most = 0;
  for (std::size_t p = 1; p < part_begin.size(); ++p) {
    most = std::max(most, part_begin[p] - part_begin[p - 1]);
  }
  return most;
}

bool GroupedLayer::reads_whole_groups() const {
  for (std::size_t p = 1; p < part_begin.size(); ++p) {
    if ((part_begin[p] - part_begin[p - 1]) % kGroupOutputs != 0) return false;
    for (std::uint32_t i = part_begin[p - 1]; i < part_begin[p]; ++i) {
      const std::uint32_t in_group = (i - part_begin[p - 1]) % kGroupOutputs;
      if (part_row[i] % kGroupOutputs != in_group) return false;
      if (in_group > 0 && part_row[i] != part_row[i - 1] + 1) return false;
    }
  }
  return true;
}

bool GroupedLayer::has_positive_bias() const {
  return std::ranges::any_of(bias, [](float b) { return b > 0; });
}

GroupWeights::GroupWeights(const GroupedLayer& layer)
    : step_begin_(upload(layer.step_begin)),
      input_(upload(layer.input)),
      weight_(upload(layer.weight)),
      bias_(upload(layer.bias)),
      part_begin_(upload(layer.part_begin)),
      part_row_(upload(layer.part_row)),
      local_(upload(layer.local)),
      part_reads_(upload(layer.part_reads)),
      part_group_(upload(layer.part_group)) {
  scalars_.groups = layer.groups();
  scalars_.parts = layer.parts;
  scalars_.steps = layer.steps();
  scalars_.most_part_rows = layer.most_part_rows();
  scalars_.reads_whole_groups = layer.reads_whole_groups();
  scalars_.has_positive_bias = layer.has_positive_bias();
}

GroupView GroupWeights::view() const {
  GroupView view = scalars_;
  view.step_begin = step_begin_.get();
  view.input = input_.get();
  view.weight = weight_.get();
  view.bias = bias_.get();
  view.part_begin = part_begin_.get();
  view.part_row = part_row_.get();
  view.local = local_.get();
  view.part_reads = part_reads_.get();
  view.part_group = part_group_.get();
  return view;
}

}  // namespace winnow::challenge
