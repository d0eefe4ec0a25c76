#include "runtime/report/html.h"

#include <cmath>

#include "runtime/base/number_text.h"
#include "runtime/report/report_style.h"

namespace winnow {
namespace {

// The page fetches nothing, whatever it holds.
constexpr char kPolicy[] =
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">";

// A cell of row `r`; the first one is the head of its row.
std::string cell(const HtmlTable& table, std::size_t r, std::size_t c) {
  const std::string content = escape_html(table.rows[r][c]);
  if (c == 0) return "<th scope='row'>" + content + "</th>";
  std::string tag = table.columns[c].is_number ? "<td class='number'" : "<td";
  const double shade = table.shades.empty() ? 0 : table.shades[r][c];
  if (shade > 0) tag += " style='--shade:" + fixed(shade, 3) + "'";
  return tag + ">" + content + "</td>";
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string html_page(const std::string& title, const std::string& content) {
  const std::string safe = escape_html(title);
  return "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>" + std::string(kPolicy) +
         "<meta name='viewport' content='width=device-width'><title>" + safe + "</title><style>" +
         kReportStyle + "</style></head><body>\n<h1>" + safe + "</h1>\n" + content +
         "</body></html>\n";
}

std::string html_table(const HtmlTable& table) {
  if (table.rows.empty()) return "";
  std::string html = "<table>\n<caption>" + escape_html(table.caption) + "</caption>\n<thead><tr>";
  for (const HtmlColumn& column : table.columns) {
    html += std::string("<th scope='col'") + (column.is_number ? " class='number'>" : ">") +
            escape_html(column.title) + "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    html += "<tr>";
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) html += cell(table, r, c);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::string scroll_box(const std::string& name, const std::string& content) {
  if (content.empty()) return "";
  return "<div class='scroll' role='region' tabindex='0' aria-label='" + escape_html(name) +
         "'>\n" + content + "</div>\n";
}

std::string large_number(double value) {
  const char* prefix = "";
  for (const char* next : {" k", " M", " G", " T"}) {
    if (std::abs(value) < 999.5 || !std::isfinite(value)) break;
    value /= 1000;
    prefix = next;
  }
  return general(value, 3) + prefix;
}

}  // namespace winnow
