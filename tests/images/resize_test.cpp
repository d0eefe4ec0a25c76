#include "runtime/images/resize.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/base/random.h"
#include "tests/images/write_files.h"

namespace winnow {
namespace {

TEST_CASE("cover returns a picture of that size as it is") {
  const Picture picture{2, 3, 1, {9, 8, 7, 6, 5, 4}};
  CHECK(cover(picture, 2, 3).pixels == picture.pixels);
}

TEST_CASE("cover cuts the centre out of a picture whose shorter side fits") {
  const Picture wide{1, 4, 1, {0, 100, 200, 40}};
  CHECK(cover(wide, 1, 2).pixels == Bytes{100, 200});
  CHECK(cover(wide, 1, 1).pixels == Bytes{100});  // of an odd rest, less is cut off before
  const Picture tall{5, 1, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
  CHECK(cover(tall, 1, 1).pixels == Bytes{7, 8, 9});
}

TEST_CASE("cover shrinks with a triangle as wide as the scale") {
  // scale 2; output 0 has its centre at 1 and weights 3/7, 3/7, 1/7 (distances 1/4, 1/4, 3/4).
  const Picture picture{2,
                        4,
                        1,
                        {7, 14, 21, 70,  //
                         9, 16, 23, 72}};
  CHECK(cover(picture, 1, 2).pixels == Bytes{12 + 1, 41 + 1});
}

TEST_CASE("cover enlarges by interpolation and repeats the border") {
  const Picture picture{2,
                        2,
                        1,
                        {0, 100,  //
                         0, 100}};
  CHECK(cover(picture, 4, 4).pixels == Bytes{0, 25, 75, 100, 0, 25, 75, 100,  //
                                             0, 25, 75, 100, 0, 25, 75, 100});
}

TEST_CASE("cover keeps the aspect: a circle's width stays its height") {
  // 20 x 60 with a white square of 10 x 10 in its middle, brought to 10 x 10: scaled to 10 x 30,
  // the square is 5 x 5, and the middle 10 columns are kept.
  Picture picture{20, 60, 1, Bytes(20 * 60)};
  for (std::size_t y = 5; y < 15; ++y) {
    for (std::size_t x = 25; x < 35; ++x) picture.pixels[y * 60 + x] = 255;
  }
  const Picture small = cover(picture, 10, 10);
  int columns = 0, rows = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    columns += small.pixels[5 * 10 + i] > 127 ? 1 : 0;
    rows += small.pixels[i * 10 + 5] > 127 ? 1 : 0;
  }
  CHECK(columns == rows);
  CHECK(std::abs(columns - 5) <= 1);
}

TEST_CASE("cover keeps constants and stays within the range of its inputs") {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    const std::int64_t height = random.between(1, 40), width = random.between(1, 40);
    const std::int64_t to_height = random.between(1, 40), to_width = random.between(1, 40);
    Picture picture{height, width, 3, Bytes(static_cast<std::size_t>(3 * height * width), 77)};
    const Picture constant = cover(picture, to_height, to_width);
    REQUIRE(constant.pixels == Bytes(static_cast<std::size_t>(3 * to_height * to_width), 77));

    for (std::uint8_t& byte : picture.pixels) {
      byte = static_cast<std::uint8_t>(random.between(50, 200));
    }
    const Picture scaled = cover(picture, to_height, to_width);
    REQUIRE(*std::min_element(scaled.pixels.begin(), scaled.pixels.end()) >= 50);
    REQUIRE(*std::max_element(scaled.pixels.begin(), scaled.pixels.end()) <= 200);
  }
}

TEST_CASE("cover of a very long picture computes the part that is kept") {
  Picture picture{1, 1 << 22, 1, Bytes(1 << 22, 5)};
  const Picture small = cover(picture, 224, 224);  // as a whole 224 x 939524096
  CHECK(small.pixels == Bytes(224 * 224, 5));
}

// One row of grey pixels, resized to `width`.
Bytes row_resized(const Bytes& row, std::int64_t width, Interpolation interpolation) {
  const Picture picture{1, static_cast<std::int64_t>(row.size()), 1, row};
  return formed(picture, {.resize = {1, width}, .interpolation = interpolation}, "p").pixels;
}

TEST_CASE("every interpolation gives the worked example's pixels") {
  const Bytes step = {0, 0, 200, 200};
  // Scale 2. Box: means of two. Nearest: inputs 1 and 3 (at 1 and 3).
  CHECK(row_resized({10, 20, 30, 41}, 2, Interpolation::box) == Bytes{15, 36});
  CHECK(row_resized({10, 20, 30, 41}, 2, Interpolation::nearest) == Bytes{20, 41});
  // Triangle: 3/7, 3/7, 1/7 of inputs 0, 1, 2; 200/7 = 28.6.
  CHECK(row_resized(step, 2, Interpolation::bilinear) == Bytes{29, 171});
  // Cubic with a = -1/2 at distances 1/4, 3/4, 5/4 (0.8671875, 0.2265625, -0.0703125): inputs 0 and
  // 1 have 0.8671875, input 2 0.2265625, input 3 -0.0703125, of 1.890625: 200 * 0.15625 / 1.890625.
  CHECK(row_resized(step, 2, Interpolation::bicubic) == Bytes{17, 183});
  // Scale 1/2, triangle: at 0.25, 0.75, ... inputs are mixed 3 to 1.
  CHECK(row_resized({0, 100}, 4, Interpolation::bilinear) == Bytes{0, 25, 75, 100});
  CHECK(row_resized({0, 100}, 4, Interpolation::nearest) == Bytes{0, 0, 100, 100});
}

TEST_CASE("a lanczos filter overshoots and is clamped") {
  const Bytes row = row_resized({0, 0, 0, 255, 255, 255}, 12, Interpolation::lanczos);
  CHECK(row.front() <= 5);
  CHECK(row[4] == 0);  // beside the step the sum is below 0
  CHECK(row[7] == 255);
  CHECK(row_resized(Bytes(9, 77), 5, Interpolation::lanczos) == Bytes(5, 77));
}

TEST_CASE("the shorter side is resized and half a pixel of the rest goes to the even side") {
  Picture picture{2, 9, 1, Bytes(18)};
  for (std::size_t i = 0; i < 18; ++i) picture.pixels[i] = static_cast<std::uint8_t>(i % 9);
  CHECK(formed(picture, {.resize = {1, 0}}, "p").width == 4);  // 9 / 2, cut off
  const auto cropped = [&](std::int64_t width) {
    return formed(picture, {.crop = {1, width}}, "p").pixels.front();
  };
  CHECK(cropped(9) == 0);
  CHECK(cropped(8) == 0);  // 0.5
  CHECK(cropped(7) == 1);
  CHECK(cropped(6) == 2);  // 1.5
  CHECK(cropped(4) == 2);  // 2.5
  CHECK(cropped(2) == 4);  // 3.5
}

TEST_CASE("a crop computes the pixels that the whole picture has there") {
  Random random(2);
  Picture picture{37, 53, 3, Bytes(37 * 53 * 3)};
  for (std::uint8_t& byte : picture.pixels) {
    byte = static_cast<std::uint8_t>(random.between(0, 255));
  }
  for (const Interpolation interpolation :
       {Interpolation::nearest, Interpolation::box, Interpolation::bilinear, Interpolation::bicubic,
        Interpolation::lanczos}) {
    const PictureForm resize = {.resize = {20, 30}, .interpolation = interpolation};
    PictureForm both = resize;
    both.crop = {10, 20};
    const Picture whole = formed(picture, resize, "p"), part = formed(picture, both, "p");
    for (std::size_t y = 0; y < 10; ++y) {
      const auto row = whole.pixels.begin() + static_cast<std::ptrdiff_t>(((y + 5) * 30 + 5) * 3);
      REQUIRE(std::equal(row, row + 60, part.pixels.begin() + static_cast<std::ptrdiff_t>(y * 60)));
    }
  }
}

}  // namespace
}  // namespace winnow
