#include "prune/config/yaml_scalar.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "runtime/base/random.h"

namespace winnow {
namespace {

TEST_CASE("numbers are decimal, whole and finite, booleans true and false") {
  CHECK(parse_integer("-12") == -12);
  CHECK(parse_integer("+3") == 3);
  for (const char* text : {"", "1.0", "0x10", "1_000", "9223372036854775808", "3 ", "1e3", "010",
                           "-01", "+00", "+-3", "+"}) {
    CHECK_FALSE(parse_integer(text).has_value());
  }
  CHECK(parse_real("1e-4") == 1e-4);
  CHECK(parse_integer("0") == 0);
  CHECK(parse_integer("-0") == 0);
  CHECK(parse_real("-0.5") == -0.5);
  CHECK(parse_real("7") == 7.0);
  for (const char* text : {"", "nan", "inf", ".inf", "1e999", "1,5", "0x1p3", "00.5", "01e2",
                           "+-0.5", "-+1", "+", "++1"}) {
    CHECK_FALSE(parse_real(text).has_value());
  }
  CHECK(parse_boolean("true") == true);
  CHECK_FALSE(parse_boolean("yes").has_value());
  CHECK_FALSE(parse_boolean("True").has_value());
}

TEST_CASE("reals are written so that they read back with the same bits") {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.normal() * std::pow(10.0, random.uniform(-20, 20));
    CHECK(parse_real(format_real(value)) == value);
  }
}

TEST_CASE("texts are quoted where YAML would read something else") {
  CHECK(format_text("runs/a-b_c.1") == "runs/a-b_c.1");
  CHECK(format_text("") == "\"\"");
  CHECK(format_text("true") == "\"true\"");
  CHECK(format_text("No") == "\"No\"");
  CHECK(format_text("3") == "\"3\"");
  CHECK(format_text("a: b") == "\"a: b\"");
  CHECK(format_text("say \"x\"\n") == "\"say \\\"x\\\"\\x0a\"");
}

}  // namespace
}  // namespace winnow
