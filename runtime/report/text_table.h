// A table for the terminal.
#pragma once

#include <string>
#include <vector>

namespace winnow {

// A line for each row, columns as wide as their longest cell, two spaces between them. Cells are
// made one line, their control characters escaped. All rows have as many cells.
std::string text_table(std::vector<std::vector<std::string>> rows);

}  // namespace winnow
