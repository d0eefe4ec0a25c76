#include "tests/challenge/sample_data.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "runtime/base/file.h"
#include "runtime/base/random.h"

namespace winnow::challenge {
namespace {

// `count` of the numbers below `size`, ascending.
std::vector<std::uint32_t> draw(std::uint32_t count, std::uint32_t size, Random& random) {
  std::vector<std::uint32_t> all(size);
  for (std::uint32_t i = 0; i < size; ++i) all[i] = i;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + random.below(size - i)]);
  }
  all.resize(count);
  std::ranges::sort(all);
  return all;
}

float any_float(Random& random) {
  const double size = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(60)) - 30);
  return static_cast<float>(random.chance(0.5) ? size : -size);
}

void append_row(SparseLayer& layer, std::uint32_t length, Random& random) {
  for (const std::uint32_t input : draw(length, layer.inputs, random)) layer.input.push_back(input);
  layer.row_begin.push_back(layer.connections());
}

}  // namespace

SparseLayer random_layer(std::uint32_t inputs, std::uint32_t outputs, std::uint64_t seed) {
  Random random(seed);
  SparseLayer layer{.inputs = inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (std::uint32_t j = 0; j < outputs; ++j) {
    append_row(layer, static_cast<std::uint32_t>(random.below(inputs + std::uint64_t{1})), random);
    layer.bias.push_back(any_float(random));
  }
  for (std::uint32_t k = 0; k < layer.connections(); ++k) layer.value.push_back(any_float(random));
  return layer;
}

SparseLayer regular_layer(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t row_length,
                          std::uint64_t seed) {
  Random random(seed);
  SparseLayer layer{.inputs = inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (std::uint32_t j = 0; j < outputs; ++j) append_row(layer, row_length, random);
  layer.value.assign(layer.connections(), 0.0625f);
  layer.bias.assign(outputs, -0.3f);
  return layer;
}

SparseImages random_images(std::uint32_t neurons, std::uint32_t images, double chance,
                           std::uint64_t seed) {
  Random random(seed);
  SparseImages result{.neurons = neurons, .row_begin = {0}, .neuron = {}};
  for (std::uint32_t i = 0; i < images; ++i) {
    for (std::uint32_t n = 0; n < neurons && i % 3 != 2; ++n) {
      if (random.chance(chance)) result.neuron.push_back(n);
    }
    result.row_begin.push_back(result.ones());
  }
  return result;
}

void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;  // not synced: tests write thousands of files
}

std::string read_text(const std::string& path) {
  return read_text_file(path, std::size_t{1} << 26);
}

}  // namespace winnow::challenge
