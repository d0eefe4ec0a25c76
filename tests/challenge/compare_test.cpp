#include "runtime/challenge/compare.h"

#include <doctest/doctest.h>

namespace winnow::challenge {

TEST_CASE("a comparison counts and names what differs on each side") {
  const CategoryComparison same = compare_categories({1, 5}, {1, 5});
  CHECK(same.is_equal());
  CHECK(describe(same) == "equal, 2 images");
  const CategoryComparison differs = compare_categories({1, 4, 9}, {1, 5, 6, 7});
  CHECK_FALSE(differs.is_equal());
  CHECK(differs.missing == Categories{5, 6, 7});
  CHECK(differs.surplus == Categories{4, 9});
  CHECK(describe(differs, 2) ==
        "3 images found, 4 expected; 3 missing: 6, 7, ...; 2 surplus: 5, 10");
  CHECK(describe(compare_categories({}, {0})) == "0 images found, 1 expected; 1 missing: 1");
  CHECK_FALSE(compare_categories({0}, {}).is_equal());
}

TEST_CASE("categories can be cut to the images that were run") {
  CHECK(categories_within({1, 5, 6, 9}, 5, 9) == Categories{5, 6});
  CHECK(categories_within({1}, 2, 2).empty());
}

}  // namespace winnow::challenge
