// Tables for people and for other programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow {

enum class TableForm {
  aligned,   // columns as wide as what stands in them, two spaces apart
  markdown,  // | title | ... |
  csv,       // RFC 4180, lines ended by \n
};

// Rows of text below a line of titles. Nothing is cut: a long cell makes its column wide.
class Table {
 public:
  enum class Side { left, right };
  struct Column {
    std::string title;
    Side side = Side::left;  // where its cells stand
  };

  explicit Table(std::vector<Column> columns);

  // Cells that are missing at the end are empty. Throws Error{internal} if there are more than
  // columns.
  void add(std::vector<std::string> cells);

  // The titles (aligned: unless all are empty) and the rows. Every line ends with a line end, and
  // none with spaces. Control characters are escaped.
  std::string text(TableForm form = TableForm::aligned) const;

 private:
  std::string aligned() const;
  std::string markdown() const;
  std::string csv() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace winnow
