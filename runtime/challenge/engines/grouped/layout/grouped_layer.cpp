#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"

#include <algorithm>
#include <utility>

#include "runtime/challenge/engines/grouped/layout/group_columns.h"
#include "runtime/challenge/engines/grouped/layout/panel_reads.h"
#include "runtime/challenge/engines/grouped/layout/weight_fragments.h"

namespace winnow::challenge {

namespace {

constexpr std::uint32_t kFragmentInputs = 16;
constexpr std::uint32_t kInputsPerStep = 8;  // uint4s of GroupedLayer::input

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

// Makes room for everything that has a known length, all of it zeros.
void make_room(GroupedLayer& grouped, const InputGroups& groups) {
  grouped.step_begin.assign(1, 0);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    grouped.step_begin.push_back(grouped.step_begin.back() +
                                 steps_of_inputs(groups.inputs(g).size()));
  }
  const std::size_t steps = grouped.step_begin.back();
  grouped.weight.assign(steps * grouped.weight_terms * kStepTermWords, {});
  grouped.input.assign(steps * kInputsPerStep, {});
  grouped.local.assign(steps * kInputsPerStep, {});
  grouped.bias.assign(std::size_t{groups.size()} * kGroupOutputs, 0);
  grouped.panel_begin.assign(1, 0);
  grouped.panel_row.clear();
  grouped.panel_reads.clear();
  grouped.panel_group.clear();
}

// The inputs of group g.
void add_inputs(GroupedLayer& grouped, std::uint32_t g, const GroupColumns& columns,
                std::span<const std::uint32_t> rows) {
  const auto pair = [](std::uint32_t a, std::uint32_t b) {
    return (shared_row(a) & 0xffff) | shared_row(b) << 16;
  };
  std::size_t to = std::size_t{grouped.step_begin[g]} * kInputsPerStep;
  for (std::uint32_t k = 0; k < columns.steps() * kStepInputs; k += kFragmentInputs) {
    for (std::uint32_t at = k; at < k + 8; at += 2, ++to) {
      const std::uint32_t a = columns.local(at), b = columns.local(at + 1),
                          c = columns.local(at + 8), d = columns.local(at + 9);
      grouped.input[to] = {rows[a], rows[b], rows[c], rows[d]};
      grouped.local[to] = {pair(a, b), pair(c, d)};
    }
  }
}

void add_biases(GroupedLayer& grouped, std::uint32_t g, std::span<const std::uint32_t> outputs,
                const SparseLayer& layer) {
  std::uint32_t row = g * kGroupOutputs;
  for (const std::uint32_t output : outputs) {
    grouped.bias[row++] = layer.bias[output] * kActivationScale;
  }
}

}  // namespace

GroupedLayer group_layer(const SparseLayer& layer, const InputGroups& groups,
                         const std::vector<std::uint32_t>& row_of_input, GroupedLayer memory) {
  const float scale = row_of_input.empty() ? kActivationScale / kBitValue : 1.0f;
  GroupedLayer grouped = std::move(memory);
  FragmentWriter fragments(layer, scale);
  grouped.weight_terms = fragments.terms();
  make_room(grouped, groups);
  PanelInputs panel(groups, layer.inputs, row_of_input);
  GroupColumns columns;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    if (g % kPanelGroups == 0) {
      panel.go_to(g);
      grouped.panel_row.insert(grouped.panel_row.end(), panel.rows().begin(), panel.rows().end());
      grouped.panel_begin.push_back(static_cast<std::uint32_t>(grouped.panel_row.size()));
    }
    columns.go_to(groups.inputs(g), panel);
    add_inputs(grouped, g, columns, panel.rows());
    fragments.write(groups.outputs(g), groups.inputs(g), columns,
                    grouped.weight.data() +
                        std::size_t{grouped.step_begin[g]} * grouped.weight_terms * kStepTermWords);
    add_biases(grouped, g, groups.outputs(g), layer);
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
