#include "runtime/challenge/engines/grouped/layout/dense_group.h"

#include <algorithm>
#include <utility>

#include "runtime/challenge/engines/grouped/layout/group_panels.h"
#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"

namespace winnow::challenge {

PanelInputs::PanelInputs(const InputGroups& groups, std::uint32_t first_group,
                         const std::vector<std::uint32_t>& row_of_input)
    : input_(inputs_of_panel(groups, first_group, row_of_input)) {
  if (input_.empty()) input_.push_back(0);
  for (std::uint32_t n = 0; n < input_.size(); ++n) numbers_.push_back({input_[n], n});
  std::ranges::sort(numbers_, {}, &Number::input);
}

std::vector<std::uint32_t> PanelInputs::columns(std::span<const std::uint32_t> inputs) const {
  std::vector<std::uint32_t> local;
  for (const std::uint32_t i : inputs) {
    local.push_back(std::ranges::lower_bound(numbers_, i, {}, &Number::input)->number);
  }
  std::ranges::sort(local);
  return in_order_of_columns(local);
}

DenseGroup::DenseGroup(const SparseLayer& layer, const InputGroups& groups, std::uint32_t g,
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

float DenseGroup::weight(std::uint32_t row, std::uint32_t k) const {
  return weight_[std::size_t{row} * steps_ * kStepInputs + k];
}

std::uint32_t DenseGroup::local(std::uint32_t k) const {
  if (k < column_.size()) return column_[k];
  return column_.empty() ? 0 : column_.front();
}

}  // namespace winnow::challenge
