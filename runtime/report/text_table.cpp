#include "runtime/report/text_table.h"

#include <algorithm>

#include "runtime/base/suggest.h"

namespace winnow {

std::string text_table(std::vector<std::vector<std::string>> rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size(), 0);
  for (std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = one_line(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string lines;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    lines += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return lines;
}

}  // namespace winnow
