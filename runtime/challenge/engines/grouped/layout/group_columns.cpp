#include "runtime/challenge/engines/grouped/layout/group_columns.h"

#include <algorithm>

namespace winnow::challenge {

void GroupColumns::go_to(std::span<const std::uint32_t> inputs, const PanelInputs& panel) {
  sorted_.clear();
  for (const std::uint32_t i : inputs) sorted_.push_back(panel.number(i));
  std::ranges::sort(sorted_);
  local_ = in_order_of_columns(sorted_);
  column_of_number_.resize(std::max(column_of_number_.size(), panel.inputs().size()));
  for (std::uint32_t k = 0; k < local_.size(); ++k) column_of_number_[local_[k]] = k;
  column_.clear();
  for (const std::uint32_t i : inputs) column_.push_back(column_of_number_[panel.number(i)]);
}

std::uint32_t GroupColumns::local(std::uint32_t k) const {
  if (k < local_.size()) return local_[k];
  return local_.empty() ? 0 : local_.front();
}

}  // namespace winnow::challenge
