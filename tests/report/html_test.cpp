#include "runtime/report/html.h"

#include <doctest/doctest.h>

namespace winnow {

TEST_CASE("text from files cannot become HTML") {
  CHECK(escape_html("<a href='x'>&\"") == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  const HtmlTable table{"<i>", {{"<b>"}, {"n", true}}, {{"<u>", "<s>"}}};
  for (const char* tag : {"<i>", "<b>", "<u>", "<s>"}) {
    CHECK(html_table(table).find(tag) == std::string::npos);
  }
  CHECK(scroll_box("<'b'>", "x").find("aria-label='&lt;&#39;b&#39;&gt;'") != std::string::npos);
}

TEST_CASE("a table has a caption, heads of columns and rows, and shades where it has any") {
  const HtmlTable table{"by class", {{"class"}, {"images", true}}, {{"cat", "3"}}, {{0, 0.25}}};
  CHECK(html_table(table) ==
        "<table>\n<caption>by class</caption>\n"
        "<thead><tr><th scope='col'>class</th><th scope='col' class='number'>images</th></tr>"
        "</thead>\n<tbody>\n<tr><th scope='row'>cat</th>"
        "<td class='number' style='--shade:0.250'>3</td></tr>\n</tbody>\n</table>\n");
  CHECK(html_table({"none", {{"class"}}, {}}).empty());
  CHECK(scroll_box("none", "").empty());
}

TEST_CASE("large numbers have three digits and a prefix") {
  CHECK(large_number(0) == "0");
  CHECK(large_number(999) == "999");
  CHECK(large_number(999.6) == "1 k");
  CHECK(large_number(1234) == "1.23 k");
  CHECK(large_number(37748736) == "37.7 M");
  CHECK(large_number(4.1e9) == "4.1 G");
  CHECK(large_number(5e15) == "5e+03 T");
}

}  // namespace winnow
