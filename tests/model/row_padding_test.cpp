#include "runtime/model/row_padding.h"

#include <doctest/doctest.h>

#include <vector>

#include "runtime/base/random.h"
#include "runtime/model/csr.h"

namespace winnow {
namespace {

using Row = std::vector<std::uint32_t>;

Row padded(const Row& kept, std::int64_t cols, std::size_t length) {
  Row row(length);
  pad_row(kept, cols, row);
  return row;
}

TEST_CASE("pads take the nearest free columns, the lower one on a tie") {
  CHECK(padded({4}, 10, 2) == Row{3, 4});
  CHECK(padded({4}, 10, 3) == Row{3, 4, 5});
  CHECK(padded({4}, 10, 4) == Row{2, 3, 4, 5});
  CHECK(padded({0, 4}, 10, 4) == Row{0, 1, 3, 4});  // columns 1, 3 and 5 are next to a kept one
  CHECK(padded({0, 4}, 10, 6) == Row{0, 1, 2, 3, 4, 5});
  CHECK(padded({9}, 10, 3) == Row{7, 8, 9});
  CHECK(padded({0, 1}, 2, 2) == Row{0, 1});
}

TEST_CASE("a row without blocks is padded from column 0") {
  CHECK(padded({}, 10, 3) == Row{0, 1, 2});
  CHECK(padded({}, 10, 0) == Row{});
}

TEST_CASE("a row's pads do not cost time in proportion to its columns") {
  CHECK(padded({4'000'000'000}, 4'294'967'295, 2) == Row{3'999'999'999, 4'000'000'000});
}

// build_csr_pattern pads whole masks; both must follow one rule.
TEST_CASE("pad_row agrees with build_csr_pattern on random masks") {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t cols = random.between(1, 40);
    const std::int64_t rows = random.between(1, 6);
    std::vector<std::uint8_t> mask;
    for (std::int64_t i = 0; i < rows; ++i) {
      const double density = random.uniform();
      for (std::int64_t c = 0; c < cols; ++c) mask.push_back(random.chance(density));
    }
    const CsrPattern pattern = build_csr_pattern(mask, rows, cols, 1);
    const auto length = static_cast<std::size_t>(pattern.row_length);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      Row kept;
      for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) {
        if (mask[row * static_cast<std::size_t>(cols) + c]) {
          kept.push_back(static_cast<std::uint32_t>(c));
        }
      }
      const auto begin = pattern.column.begin() + static_cast<std::ptrdiff_t>(row * length);
      CHECK(padded(kept, cols, length) == Row(begin, begin + static_cast<std::ptrdiff_t>(length)));
    }
  }
}

}  // namespace
}  // namespace winnow
