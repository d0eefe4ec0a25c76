#include "runtime/gpu/layer/direct_rows.h"

#include <doctest/doctest.h>

#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

// The dense weight that rows stand for.
std::vector<float> dense_of(const DirectRows& rows, std::int64_t cols) {
  std::vector<float> dense(static_cast<std::size_t>(rows.channels * cols), 0.0f);
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    for (std::int32_t u = rows.begin[r]; u < rows.begin[r + 1]; ++u) {
      for (int v = 0; v < rows.vector; ++v) {
        const std::int64_t channel = row * rows.vector + v;
        const auto at = static_cast<std::size_t>(std::int64_t{u} * rows.vector + v);
        if (channel >= rows.channels) {
          CHECK(rows.values[at] == 0.0f);
          continue;
        }
        // Added, not stored: the blocks that fill a row up repeat a column with zeros.
        dense[static_cast<std::size_t>(channel * cols) +
              rows.column[static_cast<std::size_t>(u)]] += rows.values[at];
      }
    }
  }
  return dense;
}

}  // namespace

TEST_CASE("direct_rows drops pads and fills rows up to fours") {
  // Row 0 keeps columns 1, 2, 5; row 1 keeps nothing; row_length 3 pads row 1 from column 0.
  const std::vector<std::uint8_t> mask = {0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  const CsrPattern pattern = build_csr_pattern(mask, 2, 6, 1);
  const CsrWeight weight{.channels = 2,
                         .cols = 6,
                         .vector = 1,
                         .rows = 2,
                         .row_length = 3,
                         .column = pattern.column,
                         .kept = pattern.kept,
                         .values = encode_f32(std::vector<float>{7, 8, 9, 0, 0, 0})};
  const DirectRows rows = direct_rows(block_csr(weight), 1);
  CHECK(rows.begin == std::vector<std::int32_t>{0, 4, 4});
  CHECK(rows.column == std::vector<std::uint32_t>{1, 2, 5, 5});
  CHECK(rows.values == std::vector<float>{7, 8, 9, 0});
  CHECK(rows.order == std::vector<std::int32_t>{0, 1});
  CHECK(rows.row_length == 0);

  const DirectRows padded = direct_rows(block_csr(weight, Pads::keep), 1);
  CHECK(padded.begin == std::vector<std::int32_t>{0, 4, 8});
  CHECK(padded.row_length == 4);
  CHECK(dense_of(padded, 6) == to_dense(weight));
  CHECK(pads_per_block(weight) == 1);
}

TEST_CASE("direct_rows keeps every weight, whatever the vector and the groups") {
  RandomValues random(3);
  for (const int vector : {1, 8, 16, 32}) {
    for (const std::int64_t groups : {1, 2, 3}) {
      for (const std::int64_t channels : {1, 7, 16, 33}) {
        const std::int64_t all = channels * groups;
        const CsrWeight weight = random.weight(all, 18, vector, 0.2);
        const DirectRows rows = direct_rows(block_csr(weight), groups);
        CAPTURE(vector);
        CAPTURE(groups);
        CAPTURE(channels);
        CHECK(dense_of(rows, 18) == to_dense(weight));
        const bool is_within_groups = groups == 1 || channels % rows.vector == 0;
        CHECK(is_within_groups);
        CHECK(
            dense_of(direct_rows(DenseWeight{{all, 18}, encode_f32(to_dense(weight))}, all, groups),
                     18) == to_dense(weight));
      }
    }
  }
}

TEST_CASE("direct_rows orders rows from the longest to the shortest") {
  const std::vector<float> dense = {1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0};
  const DirectRows rows = direct_rows(DenseWeight{{2, 6}, encode_f32(dense)}, 2, 1);
  CHECK(rows.order == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("values_by_segment cuts blocks into the channels of one thread") {
  DirectRows rows;
  rows.channels = rows.vector = 16;
  rows.rows = 1;
  rows.begin = {0, 2};
  rows.column = {0, 1};
  for (int i = 0; i < 32; ++i) rows.values.push_back(static_cast<float>(i));
  const std::vector<float> segments = values_by_segment(rows, 8);
  // Segment 0: channels 0-7 of both blocks; segment 1: channels 8-15.
  CHECK(segments[0] == 0);
  CHECK(segments[8] == 16);
  CHECK(segments[16] == 8);
  CHECK(segments[24] == 24);
}

TEST_CASE("direct_offsets are the distances in the padded input") {
  // 3x3 kernel, dilation 1x2, planes of 6 rows x 8 columns: column 14 is c=1, r=1, s=2.
  DirectRows rows;
  rows.column = {14};
  const Conv conv{.in_channels = 2, .out_channels = 1, .kernel = {3, 3}, .dilation = {1, 2}};
  const ActivationStrides nchw{.channel = 48, .row = 8, .column = 1};
  CHECK(direct_offsets(rows, conv, nchw).front() == 48 + 8 + 4);
  const ActivationStrides chwn8{.channel = 384, .row = 64, .column = 8};
  CHECK(direct_offsets(rows, conv, chwn8).front() == 8 * (48 + 8 + 4));
}

}  // namespace winnow
