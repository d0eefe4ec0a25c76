#include "runtime/cli/table.h"

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

// Characters, not bytes: those that continue a character of UTF-8 take no place of their own.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string line_of(const std::vector<Table::Column>& columns,
                    const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string gap(widths[i] - width_of(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns[i].side == Table::Side::left ? cells[i] + gap : gap + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) {
    fail(ErrorCode::internal, "table: ", cells.size(), " cells for ", columns_.size(), " columns");
  }
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = one_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(width_of(column.title));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const bool has_titles = std::ranges::any_of(titles, [](const auto& t) { return !t.empty(); });
  std::string text = has_titles ? line_of(columns_, titles, widths) : "";
  for (const auto& row : rows_) text += line_of(columns_, row, widths);
  return text;
}

}  // namespace winnow
