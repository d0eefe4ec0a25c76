// The packed layer, run through a model of ldmatrix and mma.sp on the host.
#include "runtime/sparse/fragment_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "tests/challenge/random_network.h"
#include "tests/sparse/rows.h"

namespace winnow {
namespace {

constexpr std::uint32_t kImages = 8;  // of a chunk, and columns of matrix B

using Activations = std::vector<std::vector<float>>;  // [row][image]

float half_of(std::uint32_t word, std::uint32_t which) {
  return to_float(Half{static_cast<std::uint16_t>(word >> 16 * which)});
}

// One product: what mma.sp.m16n8k32 adds to its 16 x 8 sums, from the registers that lanes hold
// (PTX ISA): matrix A row lane / 4 (registers 0 and 2) and 8 below (1 and 3), of the 4 columns from
// 4 (lane % 4) on (0 and 1) and 16 further (2 and 3) the two that metadata names; matrix B column
// lane / 4, of register r the rows 8 r + 2 (lane % 4) and the next.
using Sums = std::array<std::array<double, kImages>, 16>;
void multiply(const std::array<uint4, 32>& a, const std::array<std::array<float, kImages>, 32>& b,
              Sums& sums) {
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t words[4] = {a[lane].x, a[lane].y, a[lane].z, a[lane].w};
    const std::uint32_t row = lane / 4;
    const std::uint32_t second = row % 2 == 0 ? 0 : 2;  // metadata: 0, 1 or 2, 3
    for (std::uint32_t r = 0; r < 4; ++r) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t column = lane % 4 * 4 + r / 2 * 16 + second + i;
        for (std::uint32_t image = 0; image < kImages; ++image) {
          sums[row + r % 2 * 8][image] +=
              static_cast<double>(half_of(words[r], i)) * static_cast<double>(b[column][image]);
        }
      }
    }
  }
}

// Runs one step of a group for the chunks of an output that it reads n-th.
void run_step(const SliceOrder& order, std::size_t step, std::uint32_t chunks, std::uint32_t n,
              const Activations& x, Sums& sums) {
  for (std::uint32_t product = 0; product < kFragmentProducts; ++product) {
    std::array<uint4, 32> a{};
    std::array<std::array<float, kImages>, 32> b{};
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (fragment_product(lane) == product) a[lane] = order.weight[step * 32 + lane];
      const uint2 rows = order.row[step * 32 + lane];
      const std::uint32_t row = (product < 2 ? rows.x : rows.y) >> product % 2 * 16 & 0xffff;
      const std::uint32_t chunk = fragment_turn(fragment_slot(lane, product).output, chunks) ^ n;
      REQUIRE(row < x.size());
      for (std::uint32_t image = 0; image < kImages; ++image) {
        b[lane][image] = x[row][chunk * kImages + image];  // ldmatrix: lane l is row l of B
      }
    }
    multiply(a, b, sums);
  }
}

// [output][image] of the layer by the order; rows of `x` are where `position` says.
Activations run(const SliceOrder& order, std::uint32_t outputs, std::uint32_t chunks,
                const Activations& x) {
  Activations y(outputs, std::vector<float>(chunks * kImages));
  std::size_t step = 0;
  for (std::uint32_t group = 0; group < order.slices(); ++group) {
    for (std::uint32_t n = 0; n < chunks; ++n) {
      Sums sums{};
      for (std::uint32_t s = 0; s < order.steps[group]; ++s) {
        run_step(order, step + s, chunks, n, x, sums);
      }
      for (std::uint32_t g = 0; g < kFragmentOutputs; ++g) {
        const std::uint32_t output = order.output[group * kFragmentOutputs + g];
        if (output == kNoOutput) continue;
        const std::uint32_t chunk = fragment_turn(g, chunks) ^ n;
        for (std::uint32_t image = 0; image < kImages; ++image) {
          y[output][chunk * kImages + image] = static_cast<float>(
              (sums[g][image] + sums[g + 8][image]) / static_cast<double>(kFragmentWeightScale));
        }
      }
    }
    step += order.steps[group];
  }
  CHECK(step * 32 == order.row.size());
  CHECK(order.row.size() == order.weight.size());
  return y;
}

SliceOrder ordered(const SparseLayer& layer, std::span<const std::uint32_t> position,
                   std::uint32_t bank_groups, std::uint32_t unroll = 1) {
  return order_fragments(layer, position, outputs_of_fragments(layer, position, bank_groups),
                         bank_groups, unroll);
}

// Passes that the slots of ldmatrix take, by the banks they meet: row r, chunk c of `chunks` lies
// in bank group (r * chunks + c) % 8 of 16 bytes.
std::uint64_t passes_of(const SliceOrder& order, std::uint32_t chunks) {
  std::uint64_t passes = 0;
  for (std::size_t step = 0; step < order.row.size() / 32; ++step) {
    for (std::uint32_t product = 0; product < kFragmentProducts; ++product) {
      for (std::uint32_t matrix = 0; matrix < 4; ++matrix) {
        std::array<std::uint32_t, 8> met{};
        for (std::uint32_t lane = matrix * 8; lane < matrix * 8 + 8; ++lane) {
          const uint2 rows = order.row[step * 32 + lane];
          const std::uint32_t row = (product < 2 ? rows.x : rows.y) >> product % 2 * 16 & 0xffff;
          ++met[(row * chunks + fragment_turn(fragment_slot(lane, product).output, chunks)) % 8];
        }
        passes += *std::ranges::max_element(met);
      }
    }
  }
  return passes;
}

SparseLayer regular_layer(std::uint32_t inputs, std::uint32_t outputs, std::mt19937& random) {
  SparseLayer layer{.inputs = inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (std::uint32_t j = 0; j < outputs; ++j) {
    std::set<std::uint32_t> read;
    while (read.size() < 32) read.insert(random() % inputs);
    layer.input.insert(layer.input.end(), read.begin(), read.end());
    layer.row_begin.push_back(layer.connections());
    layer.bias.push_back(0);
  }
  std::uniform_real_distribution<float> weight(-0.2f, 0.2f);
  for (std::uint32_t k = 0; k < layer.connections(); ++k) layer.value.push_back(weight(random));
  return layer;
}

Activations random_rows(std::uint32_t rows, std::uint32_t images, std::mt19937& random) {
  Activations x(rows, std::vector<float>(images));
  for (auto& row : x) {
    for (float& value : row) value = static_cast<float>(random() % 1025) / 32;  // exact as fp16
  }
  return x;
}

void check_against_sums(const SparseLayer& layer, std::span<const std::uint32_t> position,
                        const Activations& x, const Activations& y) {
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    for (std::size_t image = 0; image < x.front().size(); ++image) {
      double sum = 0, size = 0;
      for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
        const double term = static_cast<double>(layer.value[k]) *
                            static_cast<double>(x[position[layer.input[k]]][image]);
        sum += term;
        size += std::abs(term);
      }
      CHECK(std::abs(static_cast<double>(y[j][image]) - sum) <= size * 0x1p-21);
    }
  }
}

TEST_CASE("sums by the model of the instructions are those of the layer") {
  std::mt19937 random(11);
  for (const std::uint32_t bank_groups : {2u, 4u, 8u}) {
    for (const std::uint32_t outputs : {1u, 8u, 37u}) {
      CAPTURE(bank_groups);
      CAPTURE(outputs);
      const std::uint32_t chunks = 8 / bank_groups;
      const SparseLayer layer = regular_layer(96, outputs, random);
      const auto position = shuffled(96, random);
      const Activations x = random_rows(96, chunks * kImages, random);
      const SliceOrder order = ordered(layer, position, bank_groups);
      check_against_sums(layer, position, x, run(order, outputs, chunks, x));
    }
  }
}

TEST_CASE("layers with outputs of any length are summed exactly") {
  const challenge::MemoryNetwork network =
      challenge::random_network({.widths = {37, 50, 3, 64, 29}, .seed = 5});
  std::mt19937 random(2);
  for (const std::uint32_t bank_groups : {4u, 8u}) {
    for (std::uint32_t l = 0; l < network.layers(); ++l) {
      const SparseLayer layer = network.layer(l);
      const std::uint32_t chunks = 8 / bank_groups;
      const auto position = shuffled(layer.inputs, random);
      const Activations x = random_rows(layer.inputs, chunks * kImages, random);
      const SliceOrder order = ordered(layer, position, bank_groups, 2);
      for (const std::uint32_t steps : order.steps) CHECK(steps % 2 == 0);
      check_against_sums(layer, position, x, run(order, layer.outputs(), chunks, x));
      const auto rows = positions_of(order.output, layer.outputs());
      CHECK(std::set(rows.begin(), rows.end()).size() == layer.outputs());
    }
  }
}

TEST_CASE("slots of one ldmatrix mostly meet different banks, and passes are counted rightly") {
  std::mt19937 random(4);
  const SparseLayer layer = regular_layer(512, 512, random);
  for (const std::uint32_t bank_groups : {4u, 8u}) {
    CAPTURE(bank_groups);
    const SliceOrder order = ordered(layer, shuffled(512, random), bank_groups);
    const std::uint32_t chunks = 8 / bank_groups;
    CHECK(order.accesses == 512 * 32 / bank_groups);
    CHECK(static_cast<double>(order.passes) < 1.25 * static_cast<double>(order.accesses));
    // A set with no surplus takes one pass an access; ldmatrix waits for the slowest of its sets.
    const std::uint64_t passes = passes_of(order, chunks);
    CHECK(passes >= order.accesses / chunks);
    CHECK(passes <= order.passes);
    if (chunks == 1) CHECK(passes == order.passes);
  }
}

TEST_CASE("a weight beyond fp16 is refused") {
  std::mt19937 random(1);
  SparseLayer layer = regular_layer(64, 8, random);
  layer.value[5] = -64;
  const auto position = shuffled(64, random);
  CHECK_THROWS_WITH_AS(ordered(layer, position, 8), doctest::Contains("a weight is -64, at most"),
                       Error);
}

}  // namespace
}  // namespace winnow
