#include "runtime/text/folds.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("fold_members: the parts cover all samples once and are as large as each other") {
  for (const std::int64_t samples : {2, 10, 103, 10662}) {
    for (const std::int64_t count : {2, 10}) {
      if (count > samples) continue;
      std::vector<int> seen(static_cast<std::size_t>(samples), 0);
      for (std::int64_t index = 0; index < count; ++index) {
        const std::vector<bool> members = fold_members(samples, {index, count, 7});
        const auto size = std::count(members.begin(), members.end(), true);
        CHECK(size >= samples / count);
        CHECK(size <= (samples + count - 1) / count);
        for (std::size_t i = 0; i < members.size(); ++i) seen[i] += members[i];
      }
      CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    }
  }
}

TEST_CASE("fold_members: the same seed deals alike, another one otherwise") {
  CHECK(fold_members(100, {3, 10, 1}) == fold_members(100, {3, 10, 1}));
  CHECK(fold_members(100, {3, 10, 1}) != fold_members(100, {3, 10, 2}));
}

TEST_CASE("fold_members: numbers out of range") {
  CHECK(error_of([] { fold_members(100, {0, 1, 1}); }) == ErrorCode::usage);
  CHECK(error_of([] { fold_members(5, {0, 6, 1}); }) == ErrorCode::usage);
  CHECK(error_of([] { fold_members(100, {-1, 10, 1}); }) == ErrorCode::usage);
  CHECK(message_of([] {
          fold_members(100, {10, 10, 1});
        }) == "data.fold: found 10, expected 0 to 9");
}

}  // namespace
}  // namespace winnow
