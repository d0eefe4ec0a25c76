#include "runtime/base/utf8.h"

#include <doctest/doctest.h>

#include <string>

namespace winnow {
namespace {

TEST_CASE("text in UTF-8 is told from other bytes") {
  for (const char* good : {"", "conv1", "\xc3\xa4", "\xe2\x82\xac", "\xed\x9f\xbf",
                           "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(good);
    CHECK(is_utf8(good));
  }
  // A stray byte, Latin-1, cut short, longer than needed, a surrogate, beyond U+10FFFF.
  for (const char* bad :
       {"\x80", "\xe4pfel", "\xc3", "\xe2\x82", "a\xe2\x82z", "\xc0\x80", "\xe0\x80\x80",
        "\xf0\x80\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    CAPTURE(std::string(bad));
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("control characters are found anywhere") {
  CHECK_FALSE(has_control_characters("a b \xc3\xa4~\xc2\xa0\xe2\x80\xa6"));
  for (const std::string& bad :
       {std::string("a\n"), std::string("\tb"), std::string("a\x7f"), std::string("a\0b", 3),
        std::string("a\xc2\x85"), std::string("\xe2\x80\xa8"), std::string("a\xe2\x80\xa9")}) {
    CHECK(has_control_characters(bad));
  }
}

}  // namespace
}  // namespace winnow
