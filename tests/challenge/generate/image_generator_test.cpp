#include "runtime/challenge/generate/image_generator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/random.h"
#include "tests/challenge/generate/naive_interpolation.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

ImageSet random_pictures(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                         std::uint64_t seed) {
  ImageSet pictures;
  pictures.count = count;
  pictures.channels = 1;
  pictures.height = height;
  pictures.width = width;
  Random random(seed);
  for (std::uint32_t i = 0; i < count * height * width; ++i) {
    pictures.pixels.push_back(random.chance(0.6) ? 0
                                                 : static_cast<std::uint8_t>(random.below(256)));
  }
  return pictures;
}

using Plane = std::vector<std::vector<std::complex<double>>>;  // [rows][columns]

Plane transposed(const Plane& plane) {
  Plane result(plane[0].size(), std::vector<std::complex<double>>(plane.size()));
  for (std::size_t y = 0; y < plane.size(); ++y) {
    for (std::size_t x = 0; x < plane[y].size(); ++x) result[x][y] = plane[y][x];
  }
  return result;
}

// All pictures side by side.
Plane joined(const ImageSet& pictures) {
  const auto height = static_cast<std::size_t>(pictures.height);
  const auto width = static_cast<std::size_t>(pictures.width);
  Plane plane(height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(pictures.count); ++i) {
      const auto row =
          pictures.pixels.begin() + static_cast<std::ptrdiff_t>((i * height + y) * width);
      plane[y].insert(plane[y].end(), row, row + static_cast<std::ptrdiff_t>(width));
    }
  }
  return plane;
}

// What image_generator.h says, step by step.
SparseImages naive_images(const ImageSet& pictures, std::uint32_t side, std::uint32_t neurons) {
  Plane columns = transposed(joined(pictures));
  for (auto& column : columns) column = naive_interpolation(column, side);
  Plane rows = transposed(columns);
  const auto count = static_cast<std::size_t>(pictures.count);
  double largest = 0, nearest = std::numeric_limits<double>::max();
  for (auto& row : rows) {
    row = naive_interpolation(row, count * side);
    for (const auto& value : row) largest = std::max(largest, std::abs(value));
  }
  SparseImages images{.neurons = neurons, .row_begin = {0}, .neuron = {}};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t neuron = 0; neuron < neurons; ++neuron) {
      const double value = std::abs(rows[neuron % side][i * side + neuron / side]);
      nearest = std::min(nearest, std::abs(value - largest / 2));
      if (value >= largest / 2) images.neuron.push_back(neuron);
    }
    images.row_begin.push_back(images.neuron.size());
  }
  REQUIRE(nearest > 1e-9 * largest);  // else rounding would decide
  return images;
}

}  // namespace

TEST_CASE("images agree with the naive transform of the joined pictures") {
  struct Sizes {
    std::uint32_t count, height, width, side;
  };
  bool was_redone = false, was_done_at_once = false;
  for (const Sizes& sizes : {Sizes{3, 4, 4, 8},
                             {5, 4, 4, 16},
                             {3, 5, 5, 7},
                             {4, 6, 6, 3},
                             {2, 28, 28, 32},
                             {3, 28, 28, 64},
                             {3, 4, 7, 10},
                             {1, 3, 3, 40},
                             {2, 1, 1, 2}}) {
    CAPTURE(sizes.count);
    CAPTURE(sizes.side);
    const ImageSet pictures = random_pictures(sizes.count, sizes.height, sizes.width, 1);
    const std::uint32_t neurons = sizes.side * sizes.side;
    std::uint32_t rows = 0;
    const SparseImages images = make_images(
        pictures, neurons, sizes.count, [&](std::uint32_t done, std::uint32_t) { rows = done; });
    CHECK(images == naive_images(pictures, sizes.side, neurons));
    (rows >= 2 * sizes.side ? was_redone : was_done_at_once) = true;
  }
  CHECK(was_redone);  // the maximum was guessed too low
  CHECK(was_done_at_once);
}

TEST_CASE("neurons that are no square number cut the last columns") {
  const ImageSet pictures = random_pictures(3, 4, 4, 2);
  CHECK(image_side(36) == 6);
  CHECK(image_side(37) == 7);
  CHECK(image_side(43) == 7);
  CHECK(make_images(pictures, 43, 3) == naive_images(pictures, 7, 43));
}

TEST_CASE("the first images are the same however many are kept") {
  const ImageSet pictures = random_pictures(600, 4, 4, 3);
  const SparseImages all = make_images(pictures, 64, 600);
  CHECK(make_images(pictures, 64, 5) == slice(all, 0, 5));
  const PixelPlanes planes = enlarge(pictures, 8, 600);
  CHECK(planes.to_images(250, 600, 64) == slice(all, 250, 600));
  CHECK_NOTHROW(check_images(all, "images"));
}

TEST_CASE("work on images can be stopped") {
  const ImageSet pictures = random_pictures(3, 4, 4, 4);
  const auto stop = [](std::uint32_t done, std::uint32_t) {
    if (done == 4) fail(ErrorCode::interrupted, "stopped");
  };
  CHECK(error_of([&] { make_images(pictures, 64, 3, stop); }) == ErrorCode::interrupted);
}

TEST_CASE("pictures that no images can be made of are refused") {
  ImageSet pictures = random_pictures(3, 4, 4, 5);
  CHECK(message_of([&] { make_images(pictures, 64, 4); }) ==
        "found 4 images asked for, expected 1 to 3, the pictures");
  CHECK(error_of([&] { make_images(pictures, 64, 0); }) == ErrorCode::usage);
  CHECK(error_of([&] { enlarge(pictures, 5000, 3); }) == ErrorCode::usage);
  pictures.channels = 3;
  CHECK(message_of([&] { make_images(pictures, 64, 1); }) ==
        "found pictures of 3 channels, expected grey ones");
  pictures.channels = 1;
  std::fill(pictures.pixels.begin(), pictures.pixels.end(), std::uint8_t{0});
  CHECK(message_of([&] { make_images(pictures, 64, 1); }) ==
        "images cannot be made: all pictures are black");
}

}  // namespace winnow::challenge
