#include "runtime/challenge/engines/grouped/layout/group_panels.h"

#include <algorithm>

namespace winnow::challenge {
namespace {

constexpr std::size_t kColumns = 16;  // of a fragment
constexpr std::uint32_t kNone = 0xffffffffu;

}  // namespace

PanelInputs::PanelInputs(const InputGroups& groups, std::uint32_t inputs,
                         const std::vector<std::uint32_t>& row_of_input)
    : groups_(groups), row_of_input_(row_of_input), number_(inputs, kNone) {}

void PanelInputs::add(std::uint32_t input, std::uint32_t reader) {
  if (number_[input] == kNone) {
    number_[input] = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({0, row_of_input_.empty() ? input : row_of_input_[input], input});
  }
  entries_[number_[input]].readers |= reader;
}

void PanelInputs::go_to(std::uint32_t first_group) {
  for (const std::uint32_t i : input_) number_[i] = kNone;
  entries_.clear();
  const std::uint32_t end = std::min(first_group + kPanelGroups, groups_.size());
  for (std::uint32_t g = first_group; g < end; ++g) {
    for (const std::uint32_t i : groups_.inputs(g)) add(i, 1u << (g - first_group));
  }
  if (entries_.empty()) add(0, 0);
  std::ranges::sort(entries_, {}, [](const Entry& entry) {
    return std::uint64_t{entry.readers} << 32 | entry.row;
  });
  input_.clear();
  row_.clear();
  for (const Entry& entry : entries_) {
    number_[entry.input] = static_cast<std::uint32_t>(input_.size());
    input_.push_back(entry.input);
    row_.push_back(entry.row);
  }
}

std::vector<std::uint32_t> in_order_of_columns(const std::vector<std::uint32_t>& local) {
  std::vector<std::uint32_t> columns;
  columns.reserve(local.size());
  std::size_t begin = 0;
  for (; begin + kColumns <= local.size(); begin += kColumns) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      const std::size_t q = column % 8 / 2, i = column % 2 + column / 8 * 2;
      columns.push_back(local[begin + 4 * i + q]);
    }
  }
  columns.insert(columns.end(), local.begin() + static_cast<std::ptrdiff_t>(begin), local.end());
  return columns;
}

}  // namespace winnow::challenge
