#include "runtime/model/index_encoding.h"

#include <doctest/doctest.h>

#include <vector>

#include "runtime/base/random.h"

namespace winnow {
namespace {

using Row = std::vector<std::uint32_t>;

std::vector<int> encoded(IndexForm form, std::int64_t cols, const Row& row) {
  std::vector<std::byte> out;
  append_row(out, form, cols, row);
  CHECK(row_bytes(form, cols, row) == static_cast<std::int64_t>(out.size()));
  std::vector<int> numbers;
  for (const std::byte b : out) numbers.push_back(std::to_integer<int>(b));
  return numbers;
}

std::string_view defect_of(IndexForm form, std::int64_t cols, const std::vector<int>& numbers,
                           std::size_t columns) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  Row row(columns);
  return RowReader(form, cols, bytes).read(row);
}

Row random_row(std::int64_t cols, double density, Random& random) {
  Row row;
  for (std::int64_t i = 0; i < cols; ++i) {
    if (random.chance(density)) row.push_back(static_cast<std::uint32_t>(i));
  }
  return row;
}

TEST_CASE("rows of columns are encoded as the format says") {
  CHECK(encoded(IndexForm::deltas, 1000, {0, 2, 257}) == std::vector{1, 2, 255});
  CHECK(encoded(IndexForm::deltas, 1000, {255, 600}) == std::vector{0, 255, 0, 0, 0x58, 2});
  CHECK(encoded(IndexForm::deltas, 65537, {300}) == std::vector{0, 0x2c, 1, 0, 0});
  CHECK(encoded(IndexForm::u16, 1000, {0, 600}) == std::vector{0, 0, 0x58, 2});
  CHECK(encoded(IndexForm::u32, 1000, {600}) == std::vector{0x58, 2, 0, 0});
}

TEST_CASE("the smallest form wins, the simpler one on a tie") {
  const Row near = {0, 1, 2, 3};
  const Row far = {1000, 2000, 3000, 4000};
  const Row one_row = {4};
  CHECK(smallest_form(65536, one_row, near) == IndexForm::deltas);
  CHECK(smallest_form(65536, one_row, far) == IndexForm::u16);  // 8 bytes, as deltas 12
  CHECK(smallest_form(65537, one_row, far) == IndexForm::u32);  // 16 bytes, as deltas 20
  const Row tied = {0, 1000};
  CHECK(smallest_form(65536, Row{2}, tied) == IndexForm::u16);  // both 4 bytes
  const Row both = {0, 1, 2, 70000};
  CHECK(smallest_form(70001, one_row, both) == IndexForm::deltas);
}

TEST_CASE("a row that starts anew costs no escape") {
  const Row column = {900, 901, 0, 1};
  CHECK(smallest_form(1000, Row{4}, Row{0, 1, 2, 901}) == IndexForm::deltas);
  CHECK(smallest_form(1000, Row{2, 2}, column) == IndexForm::deltas);
}

TEST_CASE("random rows come back in every form") {
  Random random(1);
  for (const std::int64_t cols : {1, 2, 255, 256, 257, 5000, 65536, 65537, 200000}) {
    for (const double density : {0.0, 0.0005, 0.01, 0.3, 1.0}) {
      const Row row = random_row(cols, density, random);
      for (const auto form : {IndexForm::deltas, IndexForm::u16, IndexForm::u32}) {
        if (form == IndexForm::u16 && cols > 65536) continue;
        std::vector<std::byte> bytes;
        append_row(bytes, form, cols, row);
        append_row(bytes, form, cols, row);
        RowReader reader(form, cols, bytes);
        Row first(row.size());
        Row second(row.size());
        CHECK(reader.read(first) == "");
        CHECK(reader.read(second) == "");
        CHECK(first == row);
        CHECK(second == row);
        CHECK(reader.rest().empty());
      }
    }
  }
}

TEST_CASE("bytes that are no row are named") {
  CHECK(defect_of(IndexForm::deltas, 10, {1, 2}, 3) == "the index is cut short");
  CHECK(defect_of(IndexForm::deltas, 10, {0, 5}, 1) == "the index is cut short");
  CHECK(defect_of(IndexForm::deltas, 1000, {11}, 1) == "");
  CHECK(defect_of(IndexForm::deltas, 10, {11}, 1) == "a column is out of range");
  CHECK(defect_of(IndexForm::deltas, 1000, {0, 0xe8, 3}, 1) == "a column is out of range");
  CHECK(defect_of(IndexForm::deltas, 1000, {0, 5, 0}, 1) == "an escape stands where a delta fits");
  CHECK(defect_of(IndexForm::deltas, 1000, {9, 0, 8, 0}, 2) ==
        "columns do not increase within a row");
  CHECK(defect_of(IndexForm::u16, 10, {3, 0, 3, 0}, 2) == "columns do not increase within a row");
  CHECK(defect_of(IndexForm::u16, 10, {3, 0, 10, 0}, 2) == "a column is out of range");
  CHECK(defect_of(IndexForm::u16, 10, {3, 0, 9}, 2) == "the index is cut short");
  CHECK(defect_of(IndexForm::u32, 10, {3, 0, 0, 1}, 1) == "a column is out of range");
  CHECK(defect_of(static_cast<IndexForm>(9), 10, {}, 0) == "the index form is unknown");
}

}  // namespace
}  // namespace winnow
