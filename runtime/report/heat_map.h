// A table of numbers as shaded cells, as SVG text.
#pragma once

#include <string>
#include <vector>

#include "runtime/report/chart.h"

namespace winnow {

// Cells are the darker the larger their value; a value that is no number leaves its cell out.
struct HeatMap {
  std::vector<std::string> rows = {}, columns = {};
  std::vector<std::vector<double>> values = {};  // [rows][columns]
  double low = 0, high = 1;                      // of the lightest and the darkest shade
  std::vector<std::string> notes = {};           // at the right ends of the rows; or empty
};

// Columns keep an order; where they are too many for a name each, some names are left out. Nothing
// for no rows or columns. ChartText::y_label says what the values are.
std::string heat_map(const ChartText& text, const HeatMap& map);

}  // namespace winnow
