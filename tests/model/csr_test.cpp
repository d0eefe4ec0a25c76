#include "runtime/model/csr.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/throws.h"

namespace winnow {
namespace {

using Mask = std::vector<std::uint8_t>;
using Columns = std::vector<std::uint32_t>;

constexpr int kVectors[] = {1, 8, 16, 32};

std::int64_t rows_of(std::int64_t channels, int vector) {
  return (channels + vector - 1) / vector;
}

// The columns that one row of a mask gets in rows of `length`; a full row beside it sets the
// length.
Columns padded(const Mask& row, std::size_t length) {
  Mask both = row;
  for (std::size_t c = 0; c < row.size(); ++c) both.push_back(c < length ? 1 : 0);
  Columns column = build_csr_pattern(both, 2, static_cast<std::int64_t>(row.size()), 1).column;
  column.resize(length);
  return column;
}

// The rule of csr.h, word by word: one pad after the other.
Columns padded_slowly(const Mask& row, std::size_t length) {
  std::set<std::int64_t> kept;
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (row[c]) kept.insert(static_cast<std::int64_t>(c));
  }
  std::set<std::int64_t> taken = kept;
  if (kept.empty()) kept = {0};
  while (taken.size() < length) {
    std::int64_t best = -1;
    std::int64_t best_distance = 0;
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(row.size()); ++c) {
      if (taken.contains(c)) continue;
      std::int64_t distance = static_cast<std::int64_t>(row.size());
      for (const std::int64_t k : kept) distance = std::min(distance, std::abs(k - c));
      if (best >= 0 && distance >= best_distance) continue;
      best = c;
      best_distance = distance;
    }
    taken.insert(best);
  }
  return Columns(taken.begin(), taken.end());
}

std::int64_t up_to(std::uint32_t most, std::mt19937& random) {
  return 1 + static_cast<std::int64_t>(random() % most);
}

Mask random_mask(std::int64_t blocks, std::mt19937& random) {
  Mask mask(static_cast<std::size_t>(blocks));
  const std::uint32_t density = random() % 101;  // per cent; 0 and 100 occur
  for (std::uint8_t& bit : mask) bit = random() % 100 < density ? 1 : 0;
  return mask;
}

struct Sample {
  std::int64_t channels, cols;
  int vector;
  Mask mask;
  std::vector<float> dense;  // [channels, cols], 0 where masked
  CsrWeight weight;
};

Sample random_sample(int vector, std::mt19937& random) {
  Sample sample{up_to(70, random), up_to(60, random), vector, {}, {}, {}};
  sample.mask = random_mask(rows_of(sample.channels, vector) * sample.cols, random);
  for (std::int64_t k = 0; k < sample.channels; ++k) {
    for (std::int64_t c = 0; c < sample.cols; ++c) {
      const bool is_kept = sample.mask[static_cast<std::size_t>(k / vector * sample.cols + c)];
      sample.dense.push_back(is_kept ? 1.0f + static_cast<float>(random() % 1000) : 0.0f);
    }
  }
  const CsrPattern p = build_csr_pattern(sample.mask, sample.channels, sample.cols, vector);
  std::vector<float> values;
  for (const std::int64_t position : dense_positions(p)) {
    values.push_back(position < 0 ? 0.0f : sample.dense[static_cast<std::size_t>(position)]);
  }
  sample.weight = {p.channels,   p.cols,   p.vector, p.rows,
                   p.row_length, p.column, p.kept,   encode_f32(values)};
  return sample;
}

// Two channels, six columns; the second row keeps one block less and is padded at column 2.
CsrWeight small_weight() {
  const std::vector<float> values = {1, 2, 3, 4, 0, 5};
  return {2, 6, 1, 2, 3, {0, 2, 5, 1, 2, 3}, {3, 2}, encode_f32(values)};
}

}  // namespace

TEST_CASE("pads take the free columns nearest to kept ones, lower first") {
  const Mask row = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  // keeps 5 and 10
  CHECK(padded(row, 2) == Columns{5, 10});
  CHECK(padded(row, 3) == Columns{4, 5, 10});
  CHECK(padded(row, 5) == Columns{4, 5, 6, 9, 10});
  CHECK(padded(row, 6) == Columns{4, 5, 6, 9, 10, 11});
  CHECK(padded(row, 7) == Columns{3, 4, 5, 6, 9, 10, 11});
  CHECK(padded(row, 12) == Columns{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("a row without blocks is padded from column 0") {
  CHECK(padded(Mask(6, 0), 3) == Columns{0, 1, 2});
  CHECK(padded(Mask(6, 0), 6) == Columns{0, 1, 2, 3, 4, 5});
}

TEST_CASE("pads at the borders grow inwards") {
  CHECK(padded({1, 0, 0, 0}, 3) == Columns{0, 1, 2});
  CHECK(padded({0, 0, 0, 1}, 3) == Columns{1, 2, 3});
}

TEST_CASE("the pattern of random rows is that of the rule applied pad by pad") {
  std::mt19937 random(21);
  for (int i = 0; i < 400; ++i) {
    const Mask row = random_mask(up_to(40, random), random);
    const auto kept = static_cast<std::size_t>(std::count(row.begin(), row.end(), 1));
    const std::size_t length = kept + random() % (row.size() - kept + 1);
    REQUIRE(padded(row, length) == padded_slowly(row, length));
  }
}

TEST_CASE("rows are equally long, strictly increasing and hold every kept block") {
  std::mt19937 random(22);
  for (const int vector : kVectors) {
    for (int i = 0; i < 100; ++i) {
      const Sample s = random_sample(vector, random);
      const CsrWeight& w = s.weight;
      REQUIRE(find_defect(w) == "");
      REQUIRE(w.rows == rows_of(s.channels, vector));
      std::uint32_t fullest = 0;
      for (std::int64_t row = 0; row < w.rows; ++row) {
        const auto begin = w.column.begin() + row * w.row_length;
        const auto mask = s.mask.begin() + row * s.cols;
        std::uint32_t kept = 0;
        for (std::int64_t c = 0; c < s.cols; ++c) {
          if (!mask[c]) continue;
          ++kept;
          REQUIRE(std::binary_search(begin, begin + w.row_length, static_cast<std::uint32_t>(c)));
        }
        REQUIRE(w.kept[static_cast<std::size_t>(row)] == kept);
        fullest = std::max(fullest, kept);
      }
      REQUIRE(w.row_length == fullest);
    }
  }
}

TEST_CASE("every pad lies beside another column of its row") {
  std::mt19937 random(23);
  for (int i = 0; i < 200; ++i) {
    const Sample s = random_sample(kVectors[i % 4], random);
    for (std::int64_t row = 0; row < s.weight.rows; ++row) {
      const auto begin = s.weight.column.begin() + row * s.weight.row_length;
      const std::set<std::int64_t> columns(begin, begin + s.weight.row_length);
      for (const std::int64_t c : columns) {
        if (s.mask[static_cast<std::size_t>(row * s.cols + c)] || columns.size() == 1) continue;
        REQUIRE((columns.contains(c - 1) || columns.contains(c + 1)));
      }
    }
  }
}

TEST_CASE("a weight comes back dense, whatever the vector and the number of channels") {
  std::mt19937 random(24);
  for (const int vector : kVectors) {
    for (int i = 0; i < 100; ++i) {
      const Sample s = random_sample(vector, random);
      REQUIRE(to_dense(s.weight) == s.dense);
      const auto nonzero =
          std::count_if(s.dense.begin(), s.dense.end(), [](float x) { return x != 0; });
      REQUIRE(nonzero_count(s.weight) == nonzero);
    }
  }
}

TEST_CASE("dense_positions marks channels beyond the last") {
  const CsrPattern pattern = build_csr_pattern(Mask{0, 1, 1, 0}, 9, 2, 8);
  CHECK(pattern.rows == 2);
  CHECK(pattern.row_length == 1);
  CHECK(dense_positions(pattern) == std::vector<std::int64_t>{1, 3, 5, 7, 9, 11, 13, 15,  //
                                                              16, -1, -1, -1, -1, -1, -1, -1});
}

TEST_CASE("empty masks and empty weights have rows of no blocks") {
  const CsrPattern none = build_csr_pattern(Mask(12, 0), 3, 4, 1);
  CHECK(none.row_length == 0);
  CHECK(none.column.empty());
  CHECK(none.kept == Columns{0, 0, 0});
  const CsrWeight weight{3, 4, 1, 3, 0, {}, {0, 0, 0}, encode_f32({})};
  CHECK(find_defect(weight) == "");
  CHECK(to_dense(weight) == std::vector<float>(12));
  CHECK(nonzero_count(weight) == 0);
  CHECK(build_csr_pattern({}, 0, 4, 8).rows == 0);
}

TEST_CASE("a full mask needs no pads") {
  const CsrPattern full = build_csr_pattern(Mask(12, 1), 3, 4, 1);
  CHECK(full.row_length == 4);
  CHECK(full.column == Columns{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("masks that do not fit are refused") {
  const auto pattern_of = [](std::size_t blocks, std::int64_t channels, std::int64_t cols,
                             int vector) {
    return error_of([&] { build_csr_pattern(Mask(blocks), channels, cols, vector); });
  };
  CHECK(pattern_of(11, 3, 4, 1) == ErrorCode::usage);
  CHECK(pattern_of(12, 3, 4, 8) == ErrorCode::usage);
  CHECK(pattern_of(12, 3, 4, 4) == ErrorCode::usage);
  CHECK(pattern_of(12, -3, -4, 1) == ErrorCode::usage);
  CHECK(pattern_of(0, std::int64_t{1} << 40, std::int64_t{1} << 40, 1) == ErrorCode::usage);
  CHECK(message_of([] { build_csr_pattern(Mask(11), 3, 4, 1); }) ==
        "a mask of 11 blocks does not fit a weight of [3, 4] in vectors of 1");
}

TEST_CASE("find_defect names what a hostile weight breaks, and to_dense refuses its structure") {
  CHECK(find_defect(small_weight()) == "");
  CHECK(to_dense(small_weight()) == std::vector<float>{1, 0, 2, 0, 0, 3, 0, 4, 0, 5, 0, 0});
  const auto broken = [](auto change) {
    CsrWeight weight = small_weight();
    change(weight);
    CHECK(error_of([&] { to_dense(weight); }) == ErrorCode::usage);
    return find_defect(weight);
  };
  CHECK(broken([](CsrWeight& w) { w.vector = 2; }) == "vector size 2, expected 1, 8, 16 or 32");
  CHECK(broken([](CsrWeight& w) { w.channels = -2; }) == "size [-2, 6] is out of range");
  CHECK(broken([](CsrWeight& w) { w.cols = std::int64_t{1} << 33; }) ==
        "size [2, 8589934592] is out of range");
  CHECK(broken([](CsrWeight& w) { w.rows = 3; }) == "3 rows, expected 2");
  CHECK(broken([](CsrWeight& w) { w.row_length = 7; }) == "rows of 7 blocks in 6 columns");
  CHECK(broken([](CsrWeight& w) { w.column.pop_back(); }) ==
        "5 columns stored, expected 2 rows of 3");
  CHECK(broken([](CsrWeight& w) { w.kept.pop_back(); }) == "1 row counts, expected 2");
  CHECK(broken([](CsrWeight& w) { w.values = encode_f32({}); }) == "0 values, expected 6");
  CHECK(broken([](CsrWeight& w) { w.kept[1] = 4; }) == "row 1: 4 blocks kept of 3");
  CHECK(broken([](CsrWeight& w) { w.column[5] = 6; }) == "row 1: column 6 of 6");
  CHECK(broken([](CsrWeight& w) { w.column[1] = 0; }) == "row 0: column 0 follows 0");
  CHECK(broken([](CsrWeight& w) { w.kept[0] = 2; }) == "rows of 3 blocks, the fullest keeps 2");
  CHECK(broken([](CsrWeight& w) { w.values.data.pop_back(); }) ==
        "23 bytes of values, expected 24 for 6");
  CHECK(broken([](CsrWeight& w) {
          w.channels = w.rows = std::int64_t{1} << 62;
          w.cols = w.row_length = 8;
        }) == "6 columns stored, expected 4611686018427387904 rows of 8");
}

TEST_CASE("find_defect sees pads and channels beyond the last that are not zero") {
  CsrWeight weight = small_weight();
  weight.kept[1] = 1;
  CHECK(find_defect(weight) == "row 1: 2 blocks are not 0, but only 1 are kept");
  std::vector<float> values(8, 1.0f);
  CsrWeight wide{8, 2, 8, 1, 1, {1}, {1}, encode_f32(values)};
  CHECK(find_defect(wide) == "");
  wide.channels = 7;
  CHECK(find_defect(wide) == "row 0: a value beyond the last channel is not 0");
}

}  // namespace winnow
