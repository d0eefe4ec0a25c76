#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/challenge/engines/grouped/layout/dense_group.h"
#include "runtime/challenge/engines/grouped/layout/group_panels.h"
#include "runtime/challenge/engines/grouped/layout/panel_reads.h"

namespace winnow::challenge {

namespace {

constexpr std::uint32_t kFragmentInputs = 16;
constexpr std::uint32_t kLanes = 32;
constexpr float kLargestHalf = 65504;

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

}  // namespace winnow::challenge
