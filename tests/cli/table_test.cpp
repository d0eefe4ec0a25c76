#include "runtime/cli/table.h"

#include <doctest/doctest.h>

#include "tests/throws.h"

namespace winnow {
namespace {

const std::vector<Table::Column> kColumns = {{"layer"}, {"ms", Table::Side::right}, {"kernel"}};

}  // namespace

TEST_CASE("columns are as wide as their widest cell") {
  Table table(kColumns);
  table.add({"conv1", "0.25", "direct"});
  table.add({"c", "10.5"});
  CHECK(table.text() ==
        "layer    ms  kernel\n"
        "conv1  0.25  direct\n"
        "c      10.5\n");
}

TEST_CASE("a cell of any length is kept whole and its line ends") {
  const std::string name(3000, 'x');
  Table table(kColumns);
  table.add({name, "1", name});
  table.add({"b", "2", "k"});
  const std::string text = table.text();
  CHECK(text.find("\n" + name + "   1  " + name + "\n") != std::string::npos);
  CHECK(text.ends_with("k\n"));
}

TEST_CASE("letters beyond ASCII count once and control characters are escaped") {
  Table table({{""}, {""}});
  table.add({"gr\u00fcn", "|"});
  table.add({"a\nb\x1b", "|"});
  CHECK(table.text() ==
        "gr\u00fcn        |\n"
        "a\\x0ab\\x1b  |\n");
}

TEST_CASE("a row has no more cells than the table has columns") {
  Table table({{"a"}});
  CHECK(error_of([&] { table.add({"1", "2"}); }) == ErrorCode::internal);
}

TEST_CASE("a table as Markdown and as comma-separated values") {
  Table table({{"name"}, {"ms", Table::Side::right}});
  table.add({"a|b", "1.5"});
  table.add({"say \"x\", y"});
  CHECK(table.text(TableForm::markdown) ==
        "| name | ms |\n| --- | ---: |\n| a\\|b | 1.5 |\n| say \"x\", y |  |\n");
  CHECK(table.text(TableForm::csv) == "name,ms\na|b,1.5\n\"say \"\"x\"\", y\",\n");
}

}  // namespace winnow
