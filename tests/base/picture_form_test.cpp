#include "runtime/base/picture_form.h"

#include <doctest/doctest.h>

#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("sides are read as they are written") {
  CHECK(resize_from("", "r") == Sides{});
  CHECK(resize_from("256", "r") == Sides{256, 0});
  CHECK(resize_from("224x320", "r") == Sides{224, 320});
  CHECK(crop_from("224", "c") == Sides{224, 224});
  CHECK(crop_from("8192x1", "c") == Sides{8192, 1});
  for (const char* text : {"", "256", "224x320"}) CHECK(text_of(resize_from(text, "r")) == text);
  CHECK(text_of(crop_from("224", "c")) == "224x224");
  for (const char* text : {"0", "-1", "x", "4x", "x4", "4x4x4", "4 x 4", "8193", "1e2", "4.5"}) {
    CAPTURE(text);
    CHECK(error_of([&] { resize_from(text, "r"); }) == ErrorCode::usage);
    CHECK(error_of([&] { crop_from(text, "c"); }) == ErrorCode::usage);
  }
  CHECK(message_of([] { crop_from("12y", "data.crop"); }) ==
        "data.crop: found '12y', expected the side of a square or HEIGHTxWIDTH, each from 1 to "
        "8192");
}

TEST_CASE("interpolations have Pillow's names") {
  for (const char* name : {"nearest", "box", "bilinear", "bicubic", "lanczos"}) {
    CHECK(to_string(interpolation_from(name)) == name);
  }
  CHECK(message_of([] { interpolation_from("bicubik"); }) ==
        "interpolation 'bicubik' is not known; did you mean 'bicubic'?");
}

TEST_CASE("a crop that pictures may be too small for is refused") {
  const auto refusal = [](const char* resize, const char* crop) {
    return message_of([&] {
      check_picture_form({resize_from(resize, "r"), crop_from(crop, "c")}, "data");
    });
  };
  CHECK(refusal("256", "224") == "");
  CHECK(refusal("256", "256") == "");
  CHECK(refusal("", "999") == "");
  CHECK(refusal("100x200", "100x200") == "");
  CHECK(refusal("256", "257") ==
        "data: a crop of 257 x 257 does not fit pictures resized to 256 x 256 or more");
  CHECK(refusal("100x200", "101x1") ==
        "data: a crop of 101 x 1 does not fit pictures resized to 100 x 200");
}

}  // namespace
}  // namespace winnow
