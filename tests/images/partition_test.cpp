#include "prune/data/partition.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "runtime/images/selection.h"
#include "tests/images/write_files.h"

namespace winnow {
namespace {

// Image i has all bytes i and the label i mod 10.
ImageSet numbered_images(std::int64_t count) {
  ImageSet set;
  set.count = count;
  set.channels = 1;
  set.height = set.width = 2;
  for (std::int64_t i = 0; i < count; ++i) {
    set.pixels.insert(set.pixels.end(), 4, static_cast<std::uint8_t>(i));
    set.labels.push_back(static_cast<std::int32_t>(i % 10));
  }
  set.classes.resize(10);
  return set;
}

// The numbers of the images, read from their pixels; checks that labels moved along.
std::vector<int> numbers_of(const ImageSet& set) {
  REQUIRE(set.pixels.size() == static_cast<std::size_t>(4 * set.count));
  REQUIRE(set.labels.size() == static_cast<std::size_t>(set.count));
  std::vector<int> numbers;
  for (std::size_t i = 0; i < set.labels.size(); ++i) {
    numbers.push_back(set.pixels[4 * i]);
    REQUIRE(set.pixels[4 * i + 3] == set.pixels[4 * i]);
    REQUIRE(set.labels[i] == set.pixels[4 * i] % 10);
  }
  return numbers;
}

TEST_CASE("hold_out splits a set into two parts without overlap, both in file order") {
  for (std::int64_t held_count : {0, 1, 37, 100}) {
    ImageSet rest = numbered_images(100);
    const ImageSet held = hold_out(rest, held_count, 5);
    CHECK(held.count == held_count);
    CHECK(rest.count == 100 - held_count);
    std::vector<int> numbers = numbers_of(rest), held_numbers = numbers_of(held);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    CHECK(std::is_sorted(held_numbers.begin(), held_numbers.end()));
    numbers.insert(numbers.end(), held_numbers.begin(), held_numbers.end());
    std::sort(numbers.begin(), numbers.end());
    std::vector<int> all(100);
    std::iota(all.begin(), all.end(), 0);
    CHECK(numbers == all);
    CHECK(held.height == 2);
    CHECK(held.classes.size() == 10);
  }
}

TEST_CASE("hold_out chooses by the seed alone") {
  const auto chosen = [](std::uint64_t seed) {
    ImageSet set = numbered_images(200);
    return numbers_of(hold_out(set, 20, seed));
  };
  CHECK(chosen(1) == chosen(1));
  CHECK(chosen(1) != chosen(2));
}

TEST_CASE("thin_out keeps images at equal steps") {
  ImageSet set = numbered_images(10);
  thin_out(set, 4);
  CHECK(numbers_of(set) == std::vector<int>{0, 2, 5, 7});  // floor(i 10 / 4)
  thin_out(set, 4);
  CHECK(set.count == 4);
  thin_out(set, 100);
  CHECK(set.count == 4);
  thin_out(set, 1);
  CHECK(numbers_of(set) == std::vector<int>{0});
}

TEST_CASE("measure_channels gives mean and deviation of each channel") {
  ImageSet set;
  set.count = 2;
  set.channels = 2;
  set.height = 1;
  set.width = 2;
  set.pixels = {0, 255, 7, 7,  //
                0, 255, 7, 7};
  const Preprocessing measured = measure_channels(set);
  REQUIRE(measured.mean.size() == 2);
  CHECK(measured.mean[0] == 0.5f);
  CHECK(measured.deviation[0] == 0.5f);  // all pixels lie 0.5 from the mean
  CHECK(measured.mean[1] == doctest::Approx(7 / 255.0));
  CHECK(measured.deviation[1] == 1.0f);  // constant
}

}  // namespace
}  // namespace winnow
