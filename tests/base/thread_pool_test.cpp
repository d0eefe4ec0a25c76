#include "runtime/base/thread_pool.h"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>

#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("every share runs once, each job after the other") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    REQUIRE(pool.threads() == threads);
    std::vector<int> runs(threads);
    for (int job = 0; job < 1000; ++job) {
      pool.run([&](int share) { ++runs[share]; });
    }
    CHECK(runs == std::vector<int>(threads, 1000));
  }
}

TEST_CASE("ranges cover all indices without overlap") {
  ThreadPool pool(3);
  for (const std::int64_t count : {0, 1, 2, 3, 100}) {
    std::vector<int> seen(static_cast<std::size_t>(count));
    pool.run_ranges(count, 1 << 20, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[i];
    });
    CHECK(std::accumulate(seen.begin(), seen.end(), 0) == count);
    CHECK(std::count(seen.begin(), seen.end(), 1) == count);
  }
}

TEST_CASE("the lowest share's exception reaches the caller and the pool goes on") {
  ThreadPool pool(4);
  try {
    pool.run([](int share) {
      if (share >= 2) throw std::runtime_error(std::to_string(share));
    });
    FAIL("nothing was thrown");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()) == "2");
  }
  int sum = 0;
  pool.run([&](int share) {
    if (share == 0) sum = 1;
  });
  CHECK(sum == 1);
}

TEST_CASE("a pool takes all cores by default and refuses numbers that make no sense") {
  CHECK(ThreadPool(0).threads() == available_cores());
  CHECK(error_of([] { ThreadPool pool(-1); }) == ErrorCode::usage);
  CHECK(error_of([] { ThreadPool pool(100000); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
