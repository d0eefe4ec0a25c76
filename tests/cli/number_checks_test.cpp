#include "runtime/cli/number_checks.h"

#include <doctest/doctest.h>

#include <string>

namespace winnow {
namespace {

// What the check says of `text`; nothing if it is fine.
std::string said_of(const CLI::Validator& check, std::string text) {
  return check(text);
}

TEST_CASE("whole numbers are bounded on both sides") {
  CHECK(said_of(whole_number(1), "1").empty());
  CHECK(said_of(whole_number(1), "9223372036854775807").empty());
  CHECK(said_of(whole_number(-1, 4), "-1").empty());
  CHECK(said_of(whole_number(1), "-1") == "found -1, expected a whole number of at least 1");
  CHECK(said_of(whole_number(0, 16), "17") == "found 17, expected a whole number from 0 to 16");
  for (const std::string bad : {"1.5", "1e3", "x", " 1", "1 ", "0x10", "+1", "nan"}) {
    CHECK(said_of(whole_number(0), bad) ==
          "found " + bad + ", expected a whole number of at least 0");
  }
  CHECK(said_of(whole_number(0), "") == "found nothing, expected a whole number of at least 0");
}

TEST_CASE("what does not fit is refused, not cut, and long texts are not repeated") {
  CHECK(!said_of(whole_number(0), "9223372036854775808").empty());
  CHECK(said_of(seed_number(), "18446744073709551615").empty());
  CHECK(said_of(seed_number(), "18446744073709551616") ==
        "found 18446744073709551616, expected a whole number from 0 to 18446744073709551615");
  CHECK(said_of(count_of_32_bits(1), "4294967295").empty());
  CHECK(said_of(count_of_32_bits(1), "4294967296") ==
        "found 4294967296, expected a whole number from 1 to 4294967295");
  CHECK(!said_of(count_of_32_bits(1), "0").empty());
  const std::string message = said_of(whole_number(1), std::string(309, '9'));
  CHECK(message == "found " + std::string(40, '9') + "..., expected a whole number of at least 1");
}

TEST_CASE("numbers with a point are finite and in their range") {
  for (const char* good : {"0", "100", "12.5", "1e1"}) {
    CHECK(said_of(number_between(0, 100), good).empty());
  }
  for (const std::string bad : {"nan", "-nan", "inf", "-1", "100.001", "1e999", "5%"}) {
    CHECK(said_of(number_between(0, 100), bad) ==
          "found " + bad + ", expected a number from 0 to 100");
  }
  CHECK(said_of(finite_float(), "-0.3").empty());
  for (const std::string bad : {"nan", "inf", "1e39", "x"}) {
    CHECK(said_of(finite_float(), bad) == "found " + bad + ", expected a finite number");
  }
}

TEST_CASE("sizes have units of 1024 and fit into 64 bits") {
  const std::pair<const char*, const char*> sizes[] = {
      {"1", "1"},
      {"2kb", "2048"},
      {"2 KiB", "2048"},
      {"3M", "3145728"},
      {"20GB", "21474836480"},
      {"18446744073709551615", "18446744073709551615"},
      {"7b", "7"},
      {"15EB", "17293822569102704640"}};
  for (const auto& [given, bytes] : sizes) {
    std::string text = given;
    CHECK(byte_size(1)(text).empty());
    CHECK(text == bytes);
  }
  for (const std::string bad : {"0", "-1GB", "GB", "1.5GB", "1XB", "1kbb", "16EB",
                                "18446744073709551616", "99999999999999GB", "1GB "}) {
    CHECK(said_of(byte_size(1), bad) ==
          "found " + bad + ", expected a size of at least 1 bytes, for example 20GB");
  }
  CHECK(said_of(byte_size(0), "0").empty());
}

}  // namespace
}  // namespace winnow
