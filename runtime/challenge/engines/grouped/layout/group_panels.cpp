#include "runtime/challenge/engines/grouped/layout/group_panels.h"

#include <algorithm>

namespace winnow::challenge {
namespace {

constexpr std::size_t kColumns = 16;  // of a fragment

}  // namespace

std::vector<std::uint32_t> inputs_of_panel(const InputGroups& groups, std::uint32_t first_group,
                                           const std::vector<std::uint32_t>& row_of_input) {
  struct Entry {
    std::uint32_t readers;  // bit per group
    std::uint32_t input;
  };
  std::vector<Entry> entries;
  const std::uint32_t end = std::min(first_group + kPanelGroups, groups.size());
  for (std::uint32_t g = first_group; g < end; ++g) {
    for (const std::uint32_t i : groups.inputs(g)) entries.push_back({1u << (g - first_group), i});
  }
  std::ranges::sort(entries, {}, &Entry::input);
  std::vector<Entry> inputs;
  for (const Entry& entry : entries) {
    if (inputs.empty() || inputs.back().input != entry.input) inputs.push_back({0, entry.input});
    inputs.back().readers |= entry.readers;
  }
  const auto row = [&](const Entry& entry) {
    return row_of_input.empty() ? entry.input : row_of_input[entry.input];
  };
  std::ranges::sort(inputs, [&](const Entry& a, const Entry& b) {
    return a.readers != b.readers ? a.readers < b.readers : row(a) < row(b);
  });
  std::vector<std::uint32_t> numbers(inputs.size());
  std::ranges::transform(inputs, numbers.begin(), &Entry::input);
  return numbers;
}

std::vector<std::uint32_t> in_order_of_columns(const std::vector<std::uint32_t>& local) {
  std::vector<std::uint32_t> columns;
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
