#include "runtime/reference/operations.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/throws.h"

namespace winnow::reference {
namespace {

using Floats = std::vector<float>;

Conv conv_of(std::int64_t in, std::int64_t out, Pair kernel) {
  Conv op;
  op.in_channels = in;
  op.out_channels = out;
  op.kernel = kernel;
  return op;
}

TEST_CASE("conv sums the products under the kernel and adds the bias") {
  // 1 2 3       1 0     1*1 + 5*2 = 11   2*1 + 6*2 = 14
  // 4 5 6  with 0 2 :   4*1 + 8*2 = 20   5*1 + 9*2 = 23
  // 7 8 9
  const Array input{{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const Array result = conv(conv_of(1, 1, {2, 2}), input, Floats{1, 0, 0, 2}, Floats{100});
  CHECK(result.shape == Shape{1, 1, 2, 2});
  CHECK(result.values == Floats{111, 114, 120, 123});
}

TEST_CASE("conv reads zeros in the padding and skips by its stride") {
  // Rows and columns -1, 1 and 3 of the kernel's corner; 3 x 3 ones over a padded 2 x 2.
  Conv op = conv_of(1, 1, {3, 3});
  op.padding = {1, 1};
  op.stride = {2, 1};
  const Array result = conv(op, {{1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}}, Floats(9, 1.0f), {});
  CHECK(result.shape == Shape{1, 1, 2, 2});
  CHECK(result.values == Floats{10, 10, 18, 18});  // 1+2+3+4 and 3+4+5+6
}

TEST_CASE("conv spreads its taps by the dilation") {
  Conv op = conv_of(1, 1, {1, 2});
  op.dilation = {1, 3};
  const Array result = conv(op, {{1, 1, 1, 5}, {1, 2, 3, 4, 5}}, Floats{1, 10}, {});
  CHECK(result.values == Floats{41, 52});
}

TEST_CASE("conv sums over the channels of its own group only") {
  Conv op = conv_of(4, 2, {1, 1});
  op.groups = 2;
  const Array result = conv(op, {{1, 4, 1, 1}, {1, 2, 3, 4}}, Floats{1, 10, 100, 1000}, {});
  CHECK(result.values == Floats{21, 4300});
}

TEST_CASE("conv of rank 1 runs along the length") {
  Conv op = conv_of(2, 1, {1, 2});
  op.rank = 1;
  op.padding = {0, 1};
  const Array result = conv(op, {{1, 2, 2}, {1, 2, 10, 20}}, Floats{1, 2, 3, 4}, {});
  CHECK(result.shape == Shape{1, 1, 3});
  CHECK(result.values == Floats{42, 115, 62});  // 2*1 + 4*10; 1+4 + 30+80; 2 + 60
}

TEST_CASE("linear multiplies by the transposed weight over the last dimension") {
  const Linear op{2, 3, true};
  const Array result =
      linear(op, {{2, 2}, {1, 2, 3, 4}}, Floats{1, 0, 0, 1, 1, 1}, Floats{0, 0, 5});
  CHECK(result.shape == Shape{2, 3});
  CHECK(result.values == Floats{1, 2, 8, 3, 4, 12});
}

TEST_CASE("padding never wins a maximum, but counts in an average") {
  Pool op;
  op.padding = {1, 1};
  const Array input{{1, 1, 2, 2}, {-1, -2, -3, -4}};
  CHECK(pool(op, input).values == Floats{-1, -2, -3, -4});
  op.kind = PoolKind::average;
  CHECK(pool(op, input).values == Floats{-0.25f, -0.5f, -0.75f, -1});
}

TEST_CASE("pool drops what does not fill a window") {
  Pool op;
  op.rank = 1;
  const Array result =
      pool({PoolKind::max, 1, {1, 2}, {1, 2}, {0, 0}}, {{1, 1, 5}, {1, 3, 2, 0, 9}});
  CHECK(result.shape == Shape{1, 1, 2});
  CHECK(result.values == Floats{3, 2});
}

TEST_CASE("a pool that rounds up has a last window that reaches beyond its padding") {
  Pool op{PoolKind::max, 1, {1, 2}, {1, 2}, {0, 0}, {}, true};
  const Array row{{1, 1, 5}, {1, 3, 2, 0, 9}};
  CHECK(pool(op, row).values == Floats{3, 2, 9});
  op.kind = PoolKind::average;
  CHECK(pool(op, row).values == Floats{2, 1, 9});  // the last divides by 1
  op.padding = {0, 1};
  CHECK(pool(op, row).values == Floats{0.5f, 2.5f, 4.5f});  // 0 + 1, 3 + 2, 0 + 9
  op.counts_padding = false;
  CHECK(pool(op, row).values == Floats{1, 2.5f, 4.5f});
  op.kernel = {1, 3};  // 0 1 3, 3 2 0, 0 9 0: nothing is left over
  CHECK(pool(op, row).values == Floats{2, 5.0f / 3, 4.5f});
  op = {PoolKind::average, 1, {1, 3}, {1, 2}, {0, 0}, {}, true};  // the only window is not filled
  CHECK(pool(op, {{1, 1, 2}, {1, 3}}).values == Floats{2});
}

TEST_CASE("a pool may pad unevenly") {
  Pool op{PoolKind::average, 1, {1, 3}, {1, 2}, {0, 0}, Pair{0, 2}};
  const Array row{{1, 1, 5}, {1, 3, 2, 0, 9}};
  CHECK(pool(op, row).values == Floats{2, 11.0f / 3, 3});
  op.counts_padding = false;
  CHECK(pool(op, row).values == Floats{2, 11.0f / 3, 9});
  op.kind = PoolKind::max;
  op.counts_padding = true;
  op.padding = {0, 2};
  op.padding_end = Pair{0, 0};
  const Array negative{{1, 1, 3}, {-1, -3, -2}};
  CHECK(pool(op, negative).values == Floats{-1, -1});
}

TEST_CASE("global pools give one number a channel") {
  const Array input{{1, 2, 1, 3}, {1, 2, 6, -1, -2, -3}};
  CHECK(global_pool({PoolKind::average}, input).values == Floats{3, -2});
  CHECK(global_pool({PoolKind::max}, input).values == Floats{6, -1});
  CHECK(global_pool({PoolKind::max}, input).shape == Shape{1, 2});
}

TEST_CASE("what is not a number wins every maximum, wherever it lies") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t place = 0; place < 4; ++place) {
    Array input{{1, 1, 2, 2}, {1, 4, 3, 2}};
    input.values[place] = nan;
    CAPTURE(place);
    CHECK(std::isnan(pool({.kernel = {2, 2}, .stride = {2, 2}}, input).values[0]));
    CHECK(std::isnan(global_pool({PoolKind::max}, input).values[0]));
  }
  const Array row{{1, 1, 1, 4}, {1, 2, nan, 3}};
  const Floats pairs = pool({.kernel = {1, 2}, .stride = {1, 2}}, row).values;
  CHECK(pairs[0] == 2);
  CHECK(std::isnan(pairs[1]));
}

TEST_CASE("add, concat and flatten keep the order of the samples") {
  const Array a{{2, 1, 2}, {1, 2, 3, 4}}, b{{2, 1, 2}, {10, 20, 30, 40}};
  const Array* both[] = {&a, &b};
  CHECK(add(both).values == Floats{11, 22, 33, 44});
  CHECK(concat(both).shape == Shape{2, 2, 2});
  CHECK(concat(both).values == Floats{1, 2, 10, 20, 3, 4, 30, 40});
  CHECK(flatten(concat(both)).shape == Shape{2, 4});
  CHECK(flatten(concat(both)).values == concat(both).values);
}

TEST_CASE("embedding puts a token's row along the channels") {
  const Embedding op{3, 2};
  const Array result = embedding(op, {{1, 3}, {2, 0, 2}}, Floats{0, 1, 10, 11, 20, 21});
  CHECK(result.shape == Shape{1, 2, 3});
  CHECK(result.values == Floats{20, 0, 20, 21, 1, 21});
}

TEST_CASE("softmax of equal numbers is uniform, however large they are") {
  const Array result = softmax({{2, 2}, {1000, 1000, 0, std::log(3.0f)}});
  CHECK(result.values[0] == 0.5f);
  CHECK(result.values[1] == 0.5f);
  CHECK(result.values[2] == doctest::Approx(0.25));
  CHECK(result.values[3] == doctest::Approx(0.75));
}

TEST_CASE("relu keeps what is positive and what is not a number") {
  const Floats values = relu({{1, 3}, {-1, 2, std::numeric_limits<float>::quiet_NaN()}}).values;
  CHECK(values[0] == 0);
  CHECK(values[1] == 2);
  CHECK(std::isnan(values[2]));
}

TEST_CASE("relu has an upper bound where it is given one") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats values = relu({{1, 5}, {-1, 2, 6, 7, nan}}, Relu{6.0}).values;
  CHECK(Floats(values.begin(), values.begin() + 4) == Floats{0, 2, 6, 6});
  CHECK(std::isnan(values[4]));
}

TEST_CASE("operations refuse shapes that do not fit") {
  const Array image{{1, 2, 3, 3}, Floats(18)}, row{{1, 3}, {0, 1, 5}};
  const Array* mixed[] = {&image, &row};
  CHECK(error_of([&] { conv(conv_of(1, 1, {1, 1}), image, Floats{1}, {}); }) == ErrorCode::usage);
  CHECK(error_of([&] { conv(conv_of(2, 1, {1, 1}), image, Floats{1}, {}); }) == ErrorCode::usage);
  CHECK(error_of([&] { conv(conv_of(2, 1, {5, 5}), image, Floats(50), {}); }) == ErrorCode::usage);
  CHECK(error_of([&] { linear({4, 1, false}, row, Floats(4), {}); }) == ErrorCode::usage);
  CHECK(error_of([&] { add(mixed); }) == ErrorCode::usage);
  CHECK(error_of([&] { concat(mixed); }) == ErrorCode::usage);
  CHECK(error_of([&] { embedding({3, 1}, row, Floats(3)); }) == ErrorCode::usage);
  CHECK(error_of([&] { pool({}, row); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow::reference
