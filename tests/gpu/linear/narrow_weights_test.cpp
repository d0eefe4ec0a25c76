// What of narrow linear layers needs no GPU: their kernel is emulated, lane by lane.
#include "runtime/gpu/linear/narrow_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/half.h"
#include "runtime/gpu/gathered/weight_fragments.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

// Activations in memory: what belongs to no input of an image is not a number.
struct Memory {
  NarrowInputs inputs;
  std::int64_t images = 0;
  std::vector<float> values;
};

Memory row_major_memory(const reference::Array& x) {
  return {{.channels = x.shape[1]}, x.shape[0], x.values};
}

Memory map_memory(const reference::Array& x, const std::vector<std::int32_t>& place) {
  const std::int64_t images = x.shape[0], channels = x.shape[1], positions = x.shape[2];
  Memory memory{{channels, positions, true}, images, {}};
  const std::int64_t groups = divided_up(images, kNarrowImages);
  memory.values.assign(static_cast<std::size_t>(groups * memory.inputs.chunks() * 32 * 8),
                       kNothing);
  std::size_t i = 0;
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < positions; ++p) {
        const std::int64_t at = place[static_cast<std::size_t>(c)];
        const std::int64_t chunk = n / 8 * memory.inputs.chunks() + at / 32 * positions + p;
        memory.values[static_cast<std::size_t>((chunk * 32 + at % 32) * 8 + n % 8)] = x.values[i++];
      }
    }
  }
  return memory;
}

// A lane's four words, two values each.
struct Lane {
  float value[8] = {};
};

// A warp's part of a chunk, as matrix B has it.
struct Warp {
  Lane lane[32];
};

Warp read_rows(const Memory& memory, std::uint32_t group, std::uint32_t chunk) {
  Warp warp;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::int64_t image = group * kNarrowImages + lane / 4;
    const std::int64_t first = chunk * kNarrowChunk + first_neighbour(lane);
    for (std::int64_t i = 0; i < 8; ++i) {
      const bool exists = image < memory.images && first + i < memory.inputs.channels;
      const auto at = static_cast<std::size_t>(image * memory.inputs.channels + first + i);
      if (exists) warp.lane[lane].value[i] = memory.values[at];
    }
  }
  return warp;
}

// movmatrix: element e of lane l is element l / 4 of the row that lanes 4 (2 (l % 4) + e) and the
// three that follow have, two elements each.
Warp turned(const Warp& rows) {
  Warp turned;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t row = lane % 4 * 2 + i % 2, column = lane / 4;
      turned.lane[lane].value[i] = rows.lane[row * 4 + column / 2].value[i / 2 * 2 + column % 2];
    }
  }
  return turned;
}

Warp read_map(const Memory& memory, std::uint32_t group, std::uint32_t chunk) {
  const NarrowChunks chunks(memory.inputs);
  Warp warp;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t word = 0; word < 4; ++word) {
      if (input_of_word(lane, word) >= chunks.inputs_of(chunk)) continue;
      const std::size_t at = map_offset(chunks, group, chunk, lane) + word * kNarrowWord;
      warp.lane[lane].value[2 * word] = memory.values[at];
      warp.lane[lane].value[2 * word + 1] = memory.values[at + 1];
    }
  }
  return turned(warp);
}

// Row k, column n of matrix B in a step (PTX ISA, "Matrix fragments for mma.m16n8k16").
float matrix_b(const Warp& warp, std::uint32_t step, std::uint32_t k, std::uint32_t n) {
  return warp.lane[n * 4 + k % 8 / 2].value[(2 * step + k / 8) * 2 + k % 2];
}

float half_at(const NarrowWeights& weights, std::size_t i) {
  return to_float(Half{weights.values[i]});
}

// sum[outputs, 8 images] += the products of a chunk.
void multiply(const NarrowWeights& weights, std::uint32_t chunk, const Warp& inputs,
              std::vector<double>& sum) {
  std::size_t next = std::size_t{chunk} * 2 * weights.tiles * 256;
  for (std::uint32_t step = 0; step < 2; ++step) {
    for (std::uint32_t tile = 0; tile < weights.tiles; ++tile) {
      for (int lane = 0; lane < 32; ++lane) {
        for_each_held(lane, [&](int row, int k) {
          const double weight = half_at(weights, next++);
          for (std::uint32_t n = 0; n < kNarrowImages; ++n) {
            sum[(tile * kNarrowTile + static_cast<std::size_t>(row)) * kNarrowImages + n] +=
                weight * matrix_b(inputs, step, static_cast<std::uint32_t>(k), n);
          }
        });
      }
    }
  }
}

std::vector<float> emulated(const NarrowWeights& weights, const Memory& memory) {
  std::vector<float> y(static_cast<std::size_t>(memory.images) * weights.outputs);
  const auto chunks = static_cast<std::uint32_t>(memory.inputs.chunks());
  for (std::uint32_t group = 0; group < divided_up(memory.images, kNarrowImages); ++group) {
    std::vector<double> sum(weights.tiles * kNarrowSums);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      multiply(
          weights, chunk,
          memory.inputs.is_map ? read_map(memory, group, chunk) : read_rows(memory, group, chunk),
          sum);
    }
    for (std::size_t i = 0; i < std::size_t{weights.outputs} * kNarrowImages; ++i) {
      const std::size_t image = group * kNarrowImages + i % kNarrowImages;
      if (image >= static_cast<std::size_t>(memory.images)) continue;
      const std::size_t output = i / kNarrowImages;
      y[image * weights.outputs + output] = static_cast<float>(sum[i]) + weights.bias[output];
    }
  }
  return y;
}

struct Layer {
  std::int64_t images, channels, positions, outputs;
};

void check_layer(const Layer& layer, int order, RandomValues& random) {
  const Linear op{layer.channels * layer.positions, layer.outputs, true};
  const auto weight = random.reals(static_cast<std::size_t>(op.in_features * op.out_features));
  const auto bias = random.reals(static_cast<std::size_t>(op.out_features));
  reference::Array x = random.array({layer.images, layer.channels, layer.positions});
  const auto place = places_in_order(order, layer.channels);
  const Memory map = map_memory(x, place);
  x.shape = {layer.images, op.in_features};
  const Memory rows = row_major_memory(x);
  const std::vector<float> expected = reference::linear(op, x, weight, bias).values;
  CAPTURE(layer.images);
  CAPTURE(layer.channels);
  CAPTURE(layer.positions);
  CAPTURE(layer.outputs);
  CAPTURE(order);
  const NarrowWeights of_map = pack_narrow_weights(weight, bias, map.inputs, place);
  const NarrowWeights of_rows = pack_narrow_weights(weight, bias, rows.inputs, {});
  CHECK(relative_error(emulated(of_map, map), expected) <= 1e-5);
  CHECK(relative_error(emulated(of_rows, rows), expected) <= 1e-5);
  if (order == 0) {
    CHECK(pack_narrow_weights(weight, bias, map.inputs, {}).values == of_map.values);
  }
}

}  // namespace

TEST_CASE("a narrow linear layer's kernel, emulated, equals the reference") {
  RandomValues random(71);
  const std::vector<Layer> layers = {{1, 1, 1, 1},    {1, 31, 1, 10},  {2, 32, 1, 16},
                                     {3, 33, 1, 17},  {8, 64, 1, 33},  {9, 20, 6, 10},
                                     {17, 70, 4, 64}, {5, 512, 1, 10}, {2, 100, 49, 48}};
  for (const Layer& layer : layers) {
    for (const int order : {0, 3}) check_layer(layer, order, random);
  }
}

TEST_CASE("the inputs of a chunk are rows of its two steps, each once") {
  for (const bool is_map : {false, true}) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < 32; ++i) found.push_back(input_of_row(is_map, i / 16, i % 16));
    std::ranges::sort(found);
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(found[i] == i);
  }
}

TEST_CASE("chunks of a map are of one position, and the last block's may have fewer inputs") {
  const NarrowInputs map{40, 9, true}, rows{.channels = 360};
  CHECK(map.count() == 360);
  CHECK(map.chunks() == 18);
  CHECK(rows.chunks() == 12);
  const NarrowChunks chunks(map);
  CHECK(chunks.inputs_of(8) == 32);
  CHECK(chunks.inputs_of(9) == 8);
  CHECK(NarrowChunks(NarrowInputs{64, 4, true}).inputs_of(7) == 32);
}

TEST_CASE("narrow_warps gives each warp a chunk") {
  CHECK(narrow_warps(1) == std::vector<int>{4});
  CHECK(narrow_warps(7) == std::vector<int>{4});
  CHECK(narrow_warps(8) == std::vector<int>{4, 8});
  CHECK(narrow_warps(16) == std::vector<int>{4, 8, 16});
}

TEST_CASE("pack_narrow_weights fills tiles up and refuses what does not fit") {
  const auto packed = [](std::size_t outputs) {
    return pack_narrow_weights(std::vector<float>(outputs * 33, 1.0f),
                               std::vector<float>(outputs, 2.0f), {.channels = 33}, {});
  };
  CHECK(packed(16).tiles == 1);
  CHECK(packed(17).tiles == 2);
  CHECK(packed(33).tiles == 4);
  const NarrowWeights ten = packed(10);
  CHECK(ten.outputs == 10);
  CHECK(ten.values.size() == 2 * 2 * 256);
  CHECK(std::ranges::count(ten.values, 0) == 2 * 2 * 256 - 330);
  CHECK(ten.bias.size() == 16);
  CHECK(ten.bias[9] == 2.0f);
  CHECK(ten.bias[10] == 0.0f);
  CHECK(error_of([&] { packed(65); }) == ErrorCode::usage);
  CHECK(message_of([&] { packed(65); }) ==
        "a narrow linear layer has 65 outputs, expected 1 to 64");
  CHECK(message_of([&] { packed(0); }) == "a narrow linear layer has 0 outputs, expected 1 to 64");
  const std::vector<float> six(6), two(2);
  CHECK(message_of([&] { pack_narrow_weights(six, two, {.channels = 4}, {}); }) ==
        "a narrow linear layer has 6 weights, expected 2 x 4");
  const std::vector<std::int32_t> places = {1, 0};
  CHECK(message_of([&] {
          pack_narrow_weights(six, two, {3, 1, true}, places);
        }) == "a narrow linear layer has places of 2 channels, expected 3");
}

}  // namespace winnow
