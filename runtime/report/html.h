// Pieces of HTML that the parts of the page share.
#pragma once

#include <string>
#include <vector>

namespace winnow {

// Text made safe for HTML and SVG.
std::string escape_html(const std::string& text);

// A page of its own in the look of report_style.h, with `title` (text) as its heading above
// `content`. It asks the browser to fetch nothing.
std::string html_page(const std::string& title, const std::string& content);

struct HtmlColumn {
  std::string title;
  bool is_number = false;  // stands at the right
};

// A table whose first column names the rows. Cells are text, not HTML. A table without rows is "".
struct HtmlTable {
  std::string caption;
  std::vector<HtmlColumn> columns;
  std::vector<std::vector<std::string>> rows;    // each as long as `columns`
  std::vector<std::vector<double>> shades = {};  // of the cells, 0 to 1, or empty: no shades
};
std::string html_table(const HtmlTable& table);

// `content` in a box of its own that scrolls, by keyboard too, where it is too large; `name` says
// to a screen reader what is in it. Nothing for no content.
std::string scroll_box(const std::string& name, const std::string& content);

std::string large_number(double value);  // three digits and a prefix: "37.7 M"

}  // namespace winnow
