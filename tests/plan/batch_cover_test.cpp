#include "runtime/plan/batch_cover.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/throws.h"

namespace winnow {
namespace {

using Sizes = std::vector<std::size_t>;

double total_ms(const std::vector<TimedBatch>& sizes, const Sizes& runs) {
  double ms = 0;
  for (const std::size_t run : runs) ms += sizes[run].ms;
  return ms;
}

// The least time of any set of runs that holds the samples, by trying all.
double least_ms(const std::vector<TimedBatch>& sizes, std::int64_t samples) {
  if (samples <= 0) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const TimedBatch& size : sizes) {
    least = std::min(least, size.ms + least_ms(sizes, samples - size.samples));
  }
  return least;
}

}  // namespace

TEST_CASE("powers of two below a batch are planned, and the batch") {
  CHECK(batch_sizes(1) == std::vector<std::int64_t>{1});
  CHECK(batch_sizes(2) == std::vector<std::int64_t>{1, 2});
  CHECK(batch_sizes(8) == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(batch_sizes(100) == std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64, 100});
}

TEST_CASE("samples are covered by the batch sizes of least time") {
  // Time in proportion to size: no larger run than need be.
  const BatchCover even({{1, 1}, {2, 2}, {4, 4}, {8, 8}});
  CHECK(even.cover(8) == Sizes{3});
  CHECK(even.cover(7) == Sizes{2, 1, 0});
  CHECK(even.cover(5) == Sizes{2, 0});
  CHECK(even.cover(1) == Sizes{0});
  // Every run takes the same time: one run.
  const BatchCover equal({{1, 1}, {2, 1}, {4, 1}, {8, 1}});
  CHECK(equal.cover(5) == Sizes{3});
  CHECK(equal.cover(3) == Sizes{3});  // of equal times the larger size
  // A size that is slower than a larger one never runs.
  const BatchCover odd({{1, 0.5}, {2, 9}, {4, 2}, {7, 3}});
  CHECK(odd.cover(2) == Sizes{0, 0});
  CHECK(odd.cover(5) == Sizes{2, 0});
  CHECK(odd.cover(6) == Sizes{3});
  // The whole batch is one run even where parts would be faster.
  CHECK(BatchCover({{1, 1}, {4, 100}}).cover(4) == Sizes{1});
  CHECK(BatchCover({{1, 1}, {4, 100}}).cover(3) == Sizes{0, 0, 0});
  CHECK(BatchCover({{3, 1}}).cover(2) == Sizes{0});
}

TEST_CASE("covers hold all samples and take the least time of all") {
  const std::vector<TimedBatch> sizes = {{1, 0.11}, {2, 0.12}, {4, 0.2}, {8, 0.21}, {13, 0.5}};
  const BatchCover cover(sizes);
  for (std::int64_t samples = 1; samples < 13; ++samples) {
    CAPTURE(samples);
    const Sizes runs = cover.cover(samples);
    std::int64_t held = 0;
    for (const std::size_t run : runs) held += sizes[run].samples;
    CHECK(held >= samples);
    CHECK(std::ranges::is_sorted(runs, std::ranges::greater()));
    // Launches may tip the balance between times that are nearly equal.
    CHECK(total_ms(sizes, runs) <= least_ms(sizes, samples) + 0.05);
  }
}

TEST_CASE("a cover refuses sizes that do not rise") {
  CHECK(error_of([] { BatchCover({}); }) == ErrorCode::internal);
  CHECK(error_of([] { BatchCover({{0, 1}}); }) == ErrorCode::internal);
  CHECK(error_of([] { BatchCover({{2, 1}, {2, 1}}); }) == ErrorCode::internal);
}

}  // namespace winnow
