#include "runtime/model/csr_packing.h"

#include <doctest/doctest.h>

#include "tests/model/sample_models.h"

namespace winnow {
namespace {

constexpr Encoding kEncodings[] = {Encoding::f32,    Encoding::f16,       Encoding::fixed16,
                                   Encoding::fixed8, Encoding::codebook8, Encoding::codebook4};

std::vector<std::byte> index_of(const StoredRows& rows, std::int64_t cols) {
  std::vector<std::byte> bytes;
  std::size_t at = 0;
  for (const std::uint32_t length : rows.length) {
    append_row(bytes, IndexForm::deltas, cols, std::span(rows.column).subspan(at, length));
    at += length;
  }
  return bytes;
}

// The weight without what unpack_rows makes.
CsrWeight frame_of(const CsrWeight& weight) {
  CsrWeight frame = weight;
  frame.column.clear();
  frame.values.count = 0;
  frame.values.data.clear();
  return frame;
}

std::string unpack(CsrWeight& frame, const StoredRows& rows) {
  const std::vector<std::byte> index = index_of(rows, frame.cols);
  return unpack_rows(frame, rows.length, RowReader(IndexForm::deltas, frame.cols, index),
                     rows.values);
}

// Rows {0, 3} and {1}, the second padded with column 0.
CsrWeight small_weight(std::vector<float> values) {
  const std::vector<std::uint8_t> mask = {1, 0, 0, 1, 0, 1, 0, 0};
  const CsrPattern pattern = build_csr_pattern(mask, 2, 4, 1);
  return {2, 4, 1, 2, 2, pattern.column, pattern.kept, encode_f32(values)};
}

TEST_CASE("pads are not stored") {
  const StoredRows rows = pack_rows(small_weight({1, 2, 0, 3}));
  CHECK(rows.length == std::vector<std::uint32_t>{2, 1});
  CHECK(rows.column == std::vector<std::uint32_t>{0, 3, 1});
  CHECK(rows.values == encode_f32(std::vector<float>{1, 2, 3}).data);
}

TEST_CASE("a row that the padding rule would not re-create is stored in full") {
  CsrWeight weight = small_weight({1, 2, 0, 3});
  weight.column[2] = 1;
  weight.column[3] = 3;  // a pad in column 1 beside 3: the rule says column 2
  const StoredRows rows = pack_rows(weight);
  CHECK(rows.length == std::vector<std::uint32_t>{2, 2});
  CsrWeight restored = frame_of(weight);
  CHECK(unpack(restored, rows) == "");
  CHECK(restored == weight);
}

TEST_CASE("zero blocks of the fullest row are stored if no other row shows the row length") {
  const CsrWeight weight = small_weight({0, 2, 0, 3});
  const StoredRows rows = pack_rows(weight);
  CHECK(rows.length == std::vector<std::uint32_t>{2, 1});
  CsrWeight restored = frame_of(weight);
  CHECK(unpack(restored, rows) == "");
  CHECK(restored == weight);
}

TEST_CASE("a codebook whose code 0 is not 0 stores every block") {
  CsrWeight weight = small_weight({});
  const std::vector<std::uint8_t> codes = {0, 0, 1, 0};
  weight.values = encode_codebook(Encoding::codebook4, codes, {to_half(1.0f), to_half(0.0f)});
  REQUIRE(find_defect(weight) == "");
  const StoredRows rows = pack_rows(weight);
  CHECK(rows.length == std::vector<std::uint32_t>{2, 2});
  CsrWeight restored = frame_of(weight);
  CHECK(unpack(restored, rows) == "");
  CHECK(restored == weight);
}

TEST_CASE("random weights of every encoding and vector come back equal") {
  Random random(3);
  for (const Encoding encoding : kEncodings) {
    for (const int vector : {1, 8, 16, 32}) {
      for (int round = 0; round < 12; ++round) {
        const SparseShape shape{random.between(1, 70), random.between(1, 300), vector};
        const CsrWeight weight = random_csr(shape, encoding, round % 3 == 0, random);
        REQUIRE(find_defect(weight) == "");
        CsrWeight restored = frame_of(weight);
        CHECK(unpack(restored, pack_rows(weight)) == "");
        CHECK(restored == weight);
      }
    }
  }
}

TEST_CASE("skewed rows cost what they keep") {
  std::vector<std::uint8_t> mask(64 * 1000);
  std::fill_n(mask.begin(), 1000, std::uint8_t{1});  // one dense row
  for (std::size_t row = 1; row < 64; ++row) mask[row * 1000 + row] = 1;
  const CsrPattern pattern = build_csr_pattern(mask, 64, 1000, 1);
  std::vector<float> values;
  for (const std::int64_t at : dense_positions(pattern)) {
    values.push_back(mask[static_cast<std::size_t>(at)]);
  }
  const CsrWeight weight{64, 1000, 1, 64, 1000, pattern.column, pattern.kept, encode_f32(values)};
  CHECK(pack_rows(weight).column.size() == 1063);  // of 64,000 in memory
}

TEST_CASE("rows that do not fit are named") {
  const CsrWeight weight = small_weight({1, 2, 0, 3});
  CsrWeight frame = frame_of(weight);
  StoredRows rows = pack_rows(weight);

  SUBCASE("a row longer than the row length") {
    rows.length = {2, 3};
    CHECK(unpack_rows(frame, rows.length, RowReader(IndexForm::u16, 4, {}), rows.values) ==
          "3 blocks stored in a row of 2");
  }
  SUBCASE("no row as long as the row length") {
    rows.length = {1, 1};
    CHECK(unpack_rows(frame, rows.length, RowReader(IndexForm::u16, 4, {}), rows.values) ==
          "no row stores all blocks of the row length");
  }
  SUBCASE("too few values") {
    rows.values.pop_back();
    CHECK(unpack(frame, rows) == "11 bytes of values, 3 stored blocks take 12");
  }
  SUBCASE("columns out of order") {
    rows.column = {3, 0, 1};
    CHECK(unpack_rows(frame, rows.length,
                      RowReader(IndexForm::u32, 4, std::as_bytes(std::span(rows.column))),
                      rows.values) == "row 0: columns do not increase within a row");
  }
  SUBCASE("index bytes left over") {
    rows.column.push_back(3);
    CHECK(unpack_rows(frame, rows.length,
                      RowReader(IndexForm::u32, 4, std::as_bytes(std::span(rows.column))),
                      rows.values) == "4 bytes follow the last row");
  }
}

}  // namespace
}  // namespace winnow
