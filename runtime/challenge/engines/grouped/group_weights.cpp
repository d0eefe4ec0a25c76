#include "runtime/challenge/engines/grouped/group_weights.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/challenge/engines/grouped/group_panels.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kFragmentInputs = 16;
constexpr std::uint32_t kLanes = 32;
constexpr float kLargestHalf = 65504;

// The inputs of a panel of groups, and the local numbers under which they are read.
class PanelInputs {
 public:
  PanelInputs(const InputGroups& groups, std::uint32_t first_group,
              const std::vector<std::uint32_t>& row_of_input)
      : input_(inputs_of_panel(groups, first_group, row_of_input)) {
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
             const PanelInputs& panel, float scale)
      : column_(panel.columns(groups.inputs(g))),
        steps_(std::max<std::uint32_t>(
            1, static_cast<std::uint32_t>((column_.size() + kStepInputs - 1) / kStepInputs))),
        weight_(std::size_t{kGroupOutputs} * steps_ * kStepInputs) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> column_of;  // input, column
    for (std::uint32_t k = 0; k < column_.size(); ++k) {
      column_of.emplace_back(panel.inputs()[column_[k]], k);
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

// Term `term` of `value`: the half nearest to what the terms before it leave.
std::uint32_t half_bits(float value, std::uint32_t term) {
  const Half high = to_half(value);
  return term == 0 ? high.bits : to_half(value - to_float(high)).bits;
}

// Weights of a lane in the fragment of the inputs from `k`.
uint4 fragment(const DenseGroup& group, std::uint32_t k, std::uint32_t lane, std::uint32_t term) {
  const std::uint32_t row = lane / 4, column = k + lane % 4 * 2;
  const auto pair = [&](std::uint32_t r, std::uint32_t c) {
    return half_bits(group.weight(r, c), term) | half_bits(group.weight(r, c + 1), term) << 16;
  };
  return {pair(row, column), pair(row + 8, column), pair(row, column + 8),
          pair(row + 8, column + 8)};
}

// `row`: of the panel's inputs, by local number.
void append(GroupedLayer& grouped, const DenseGroup& group, const std::vector<std::uint32_t>& row) {
  for (std::uint32_t k = 0; k < group.steps() * kStepInputs; k += kFragmentInputs) {
    for (std::uint32_t q = 0; q < 4; ++q) {
      const std::uint32_t at = k + 2 * q;
      const std::uint32_t local[4] = {group.local(at), group.local(at + 1), group.local(at + 8),
                                      group.local(at + 9)};
      grouped.input.push_back({row[local[0]], row[local[1]], row[local[2]], row[local[3]]});
      const auto pair = [&](std::uint32_t a, std::uint32_t b) {
        return (shared_row(a) & 0xffff) | shared_row(b) << 16;
      };
      grouped.local.push_back({pair(local[0], local[1]), pair(local[2], local[3])});
    }
  }
  for (std::uint32_t step = 0; step < group.steps(); ++step) {
    for (std::uint32_t term = 0; term < grouped.weight_terms; ++term) {
      for (std::uint32_t k = 0; k < kStepInputs; k += kFragmentInputs) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          grouped.weight.push_back(fragment(group, step * kStepInputs + k, lane, term));
        }
      }
    }
  }
  grouped.step_begin.push_back(grouped.step_begin.back() + group.steps());
}

std::uint32_t weight_terms(const SparseLayer& layer, float scale) {
  std::uint32_t terms = 1;
  for (const float weight : layer.value) {
    const float value = weight * scale;
    if (std::abs(value) > kLargestHalf) {
      fail(ErrorCode::usage, "engine grouped: a weight is ", weight, ", at most ",
           kLargestHalf / scale, " fits fp16");
    }
    if (to_float(to_half(value)) != value) terms = 2;
  }
  return terms;
}

// The groups that a panel reads, by number.
std::vector<std::uint32_t> groups_read(const GroupedLayer& layer, std::size_t panel) {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t i = layer.panel_begin[panel]; i < layer.panel_begin[panel + 1];
       i += kGroupOutputs) {
    groups.push_back(layer.panel_row[i] / kGroupOutputs);
  }
  return groups;
}

void add_panel_reads(GroupedLayer& layer) {
  const std::size_t panels = layer.panel_begin.size() - 1;
  layer.panel_group.resize(panels * kMostPanelReads);
  std::vector<std::uint32_t> before;
  for (std::size_t p = 0; p < panels; ++p) {
    const std::vector<std::uint32_t> groups = groups_read(layer, p);
    const auto count = static_cast<std::uint32_t>(groups.size());
    std::uint32_t bits = count, here = count;
    for (std::uint32_t i = 0; i < count && here == count; ++i) {
      const auto there = std::ranges::find(before, groups[i]);
      if (there == before.end()) continue;
      here = i;
      bits |= i << 8 | static_cast<std::uint32_t>(there - before.begin()) << 16 |
              PanelReads::kIsCarried;
    }
    std::uint32_t* entry = layer.panel_group.data() + p * kMostPanelReads;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i != here) *entry++ = panel_group_entry(groups[i], i);
    }
    if (here < count) *entry = panel_group_entry(groups[here], here);
    layer.panel_reads.push_back(bits);
    before = groups;
  }
}

}  // namespace

GroupedLayer group_layer(const SparseLayer& layer, const InputGroups& groups,
                         const std::vector<std::uint32_t>& row_of_input) {
  const float scale = row_of_input.empty() ? kActivationScale / kBitValue : 1.0f;
  GroupedLayer grouped;
  grouped.weight_terms = weight_terms(layer, scale);
  grouped.bias.resize(std::size_t{groups.size()} * kGroupOutputs);
  for (std::uint32_t first = 0; first < groups.size(); first += kPanelGroups) {
    const PanelInputs panel(groups, first, row_of_input);
    std::vector<std::uint32_t> rows = panel.inputs();
    if (!row_of_input.empty()) {
      for (std::uint32_t& row : rows) row = row_of_input[row];
    }
    for (std::uint32_t g = first; g < std::min(first + kPanelGroups, groups.size()); ++g) {
      append(grouped, DenseGroup(layer, groups, g, panel, scale), rows);
      std::uint32_t row = g * kGroupOutputs;
      for (const std::uint32_t output : groups.outputs(g)) {
        grouped.bias[row++] = layer.bias[output] * kActivationScale;
      }
    }
    grouped.panel_row.insert(grouped.panel_row.end(), rows.begin(), rows.end());
    grouped.panel_begin.push_back(static_cast<std::uint32_t>(grouped.panel_row.size()));
  }
  if (grouped.reads_whole_groups() &&
      grouped.most_panel_rows() <= kMostPanelReads * kGroupOutputs) {
    add_panel_reads(grouped);
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

std::uint32_t GroupedLayer::most_panel_rows() const {
  std::uint32_t most = 0;
  for (std::size_t p = 1; p < panel_begin.size(); ++p) {
    most = std::max(most, panel_begin[p] - panel_begin[p - 1]);
  }
  return most;
}

bool GroupedLayer::reads_whole_groups() const {
  for (std::size_t p = 1; p < panel_begin.size(); ++p) {
    if ((panel_begin[p] - panel_begin[p - 1]) % kGroupOutputs != 0) return false;
    for (std::uint32_t i = panel_begin[p - 1]; i < panel_begin[p]; ++i) {
      const std::uint32_t in_group = (i - panel_begin[p - 1]) % kGroupOutputs;
      if (panel_row[i] % kGroupOutputs != in_group) return false;
      if (in_group > 0 && panel_row[i] != panel_row[i - 1] + 1) return false;
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
      panel_begin_(upload(layer.panel_begin)),
      panel_row_(upload(layer.panel_row)),
      local_(upload(layer.local)),
      panel_reads_(upload(layer.panel_reads)),
      panel_group_(upload(layer.panel_group)) {
  scalars_.groups = layer.groups();
  scalars_.weight_terms = layer.weight_terms;
  scalars_.steps = layer.steps();
  scalars_.most_panel_rows = layer.most_panel_rows();
  scalars_.reads_whole_groups = layer.reads_whole_groups();
  scalars_.has_positive_bias = layer.has_positive_bias();
}

GroupView GroupWeights::view() const {
  GroupView view = scalars_;
  view.step_begin = step_begin_.get();
  view.input = input_.get();
  view.weight = weight_.get();
  view.bias = bias_.get();
  view.panel_begin = panel_begin_.get();
  view.panel_row = panel_row_.get();
  view.local = local_.get();
  view.panel_reads = panel_reads_.get();
  view.panel_group = panel_group_.get();
  return view;
}

}  // namespace winnow::challenge
