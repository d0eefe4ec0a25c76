#include "quantize/scheme.h"

#include <doctest/doctest.h>

#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("schemes are named as in the paper's tables") {
  CHECK(scheme_from("4b/16b") == Scheme{WeightForm::codebook4, 16});
  CHECK(scheme_from("16b/16b") == Scheme{WeightForm::fixed16, 16});
  CHECK(scheme_from("8b/8b") == Scheme{WeightForm::fixed8, 8});
  CHECK(scheme_from("8b-codebook/32b") == Scheme{WeightForm::codebook8, 0});
  for (const char* name : {"4b/16b", "16b/8b", "8b/32b", "8b-codebook/8b", "32b/16b"}) {
    CHECK(to_string(scheme_from(name)) == name);
  }
}

TEST_CASE("unknown schemes are refused with what is known") {
  CHECK(error_of([] { scheme_from("4b"); }) == ErrorCode::usage);
  CHECK(error_of([] { scheme_from("5b/16b"); }) == ErrorCode::usage);
  CHECK(message_of([] { scheme_from("8b-codebok/16b"); }).find("did you mean '8b-codebook'") !=
        std::string::npos);
  CHECK(channel_scale_from("auto") == ChannelScale::automatic);
  CHECK(channel_scale_from("off") == ChannelScale::off);
  CHECK(error_of([] { channel_scale_from("on"); }) == ErrorCode::usage);
  CHECK(message_of([] { channel_scale_from("of"); }).find("did you mean 'off'") !=
        std::string::npos);
  CHECK(message_of([] { scheme_from("4b/17b"); }).find("activations '17b'") != std::string::npos);
}

}  // namespace
}  // namespace winnow
