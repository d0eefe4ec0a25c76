// Tables for people: columns as wide as what stands in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow {

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

  // The titles (unless all are empty) and the rows. Columns are two spaces apart, every line ends
  // with a line end, and no line ends with spaces. Control characters are escaped.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace winnow
