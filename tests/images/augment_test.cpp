#include "prune/data/augment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("draw_augmentations reaches all shifts, both sides and all hole centres") {
  Random random(2);
  const AugmentConfig config = {.crop_padding = 2, .flip = true, .cutout = 3};
  const Augmentations drawn = draw_augmentations(config, 4, 6, 2000, random);
  const auto range = [](const std::vector<std::int64_t>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return std::pair(*low, *high);
  };
  CHECK(range(drawn.row_shift) == std::pair<std::int64_t, std::int64_t>{-2, 2});
  CHECK(range(drawn.column_shift) == std::pair<std::int64_t, std::int64_t>{-2, 2});
  CHECK(range(drawn.hole_row) == std::pair<std::int64_t, std::int64_t>{-1, 2});
  CHECK(range(drawn.hole_column) == std::pair<std::int64_t, std::int64_t>{-1, 4});
  const auto flipped = std::count(drawn.is_flipped.begin(), drawn.is_flipped.end(), 1);
  CHECK(flipped > 900);
  CHECK(flipped < 1100);
}

TEST_CASE("draw_augmentations gives equal changes for equal generators, none if switched off") {
  const AugmentConfig config = {.crop_padding = 4, .flip = true, .cutout = 8};
  Random first(7), second(7), third(7);
  const Augmentations a = draw_augmentations(config, 32, 32, 50, first);
  const Augmentations b = draw_augmentations(config, 32, 32, 50, second);
  CHECK(a.row_shift == b.row_shift);
  CHECK(a.is_flipped == b.is_flipped);
  const Augmentations off = draw_augmentations({}, 32, 32, 50, third);
  CHECK(off.row_shift == std::vector<std::int64_t>(50, 0));
  CHECK(off.is_flipped == std::vector<std::uint8_t>(50, 0));
}

TEST_CASE("check_augment_config refuses what does not fit the images") {
  const auto refusal = [](const AugmentConfig& config) {
    return error_of([&] { check_augment_config(config, 8, 10); });
  };
  CHECK(refusal({.crop_padding = 7}) == std::nullopt);
  CHECK(refusal({.crop_padding = 8}) == ErrorCode::usage);
  CHECK(refusal({.crop_padding = -1}) == ErrorCode::usage);
  CHECK(refusal({.cutout = -1}) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
