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

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += " ";
    for (const char c : cell) line += c == '|' ? std::string("\\|") : std::string(1, c);
    line += " |";
  }
  return line + "\n";
}

// Cells with a comma or a quote stand in quotes, and quotes in them twice.
std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ",";
    if (cells[i].find_first_of(",\"") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
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

std::string Table::text(TableForm form) const {
  if (form == TableForm::markdown) return markdown();
  return form == TableForm::csv ? csv() : aligned();
}

std::string Table::markdown() const {
  std::vector<std::string> titles, rules;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    rules.push_back(column.side == Side::right ? "---:" : "---");
  }
  std::string text = markdown_line(titles) + markdown_line(rules);
  for (const auto& row : rows_) text += markdown_line(row);
  return text;
}

std::string Table::csv() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = csv_line(titles);
  for (const auto& row : rows_) text += csv_line(row);
  return text;
}

std::string Table::aligned() const {
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
