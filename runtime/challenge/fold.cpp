#include "runtime/challenge/fold.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/random.h"

namespace winnow::challenge {
namespace {

// The outputs that stay, ascending, and for each output its place among them.
struct Kept {
  std::vector<std::uint32_t> output;
  std::vector<std::uint32_t> place;
};

struct Connection {
  std::uint32_t input;
  double value;
};

// A row with its inputs renumbered; the weights of those that have become one are added up.
void append_row(const SparseLayer& layer, std::uint32_t output,
                const std::vector<std::uint32_t>& place, SparseLayer& folded) {
  std::vector<Connection> row;
  const std::uint32_t end = layer.row_begin[output + std::size_t{1}];
  for (std::uint32_t k = layer.row_begin[output]; k < end; ++k) {
    row.push_back({.input = place[layer.input[k]], .value = layer.value[k]});
  }
  std::ranges::stable_sort(row, {}, &Connection::input);
  for (std::size_t k = 0; k < row.size();) {
    double sum = 0;
    const std::uint32_t input = row[k].input;
    for (; k < row.size() && row[k].input == input; ++k) sum += row[k].value;
    folded.input.push_back(input);
    folded.value.push_back(static_cast<float>(sum));
  }
  folded.row_begin.push_back(folded.connections());
  folded.bias.push_back(layer.bias[output]);
}

// The layer with all its outputs, and of its inputs the kept ones.
SparseLayer fold_inputs(const SparseLayer& layer, const Kept& kept) {
  SparseLayer folded{.inputs = static_cast<std::uint32_t>(kept.output.size()),
                     .row_begin = {0},
                     .input = {},
                     .value = {},
                     .bias = {}};
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) append_row(layer, j, kept.place, folded);
  return folded;
}

template <typename T>
std::span<const T> row_of(const std::vector<T>& all, const SparseLayer& layer, std::uint32_t row) {
  const std::uint32_t begin = layer.row_begin[row];
  return std::span(all).subspan(begin, layer.row_begin[row + std::size_t{1}] - begin);
}

std::uint64_t hash_of(const SparseLayer& layer, std::uint32_t output) {
  std::uint64_t hash = std::bit_cast<std::uint32_t>(layer.bias[output]);
  for (const std::uint32_t input : row_of(layer.input, layer, output)) {
    hash = mix_bits(hash + input + 1);
  }
  for (const float value : row_of(layer.value, layer, output)) {
    hash = mix_bits(hash + std::bit_cast<std::uint32_t>(value) + 1);
  }
  return hash;
}

bool are_equal(const SparseLayer& layer, std::uint32_t a, std::uint32_t b) {
  return layer.bias[a] == layer.bias[b] &&
         std::ranges::equal(row_of(layer.input, layer, a), row_of(layer.input, layer, b)) &&
         std::ranges::equal(row_of(layer.value, layer, a), row_of(layer.value, layer, b));
}

Kept find_kept(const SparseLayer& layer) {
  Kept kept;
  std::unordered_multimap<std::uint64_t, std::uint32_t> places;  // by hash
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    const std::uint64_t hash = hash_of(layer, j);
    const auto [begin, end] = places.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& entry) {
      return are_equal(layer, kept.output[entry.second], j);
    });
    if (same != end) {
      kept.place.push_back(same->second);
      continue;
    }
    const auto place = static_cast<std::uint32_t>(kept.output.size());
    places.emplace(hash, place);
    kept.place.push_back(place);
    kept.output.push_back(j);
  }
  return kept;
}

SparseLayer keep_outputs(const SparseLayer& layer, const std::vector<std::uint32_t>& outputs) {
  SparseLayer kept{.inputs = layer.inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (const std::uint32_t j : outputs) {
    const auto input = row_of(layer.input, layer, j);
    const auto value = row_of(layer.value, layer, j);
    kept.input.insert(kept.input.end(), input.begin(), input.end());
    kept.value.insert(kept.value.end(), value.begin(), value.end());
    kept.row_begin.push_back(kept.connections());
    kept.bias.push_back(layer.bias[j]);
  }
  return kept;
}

Kept all_inputs(std::uint32_t inputs) {
  Kept all;
  all.output.resize(inputs);
  std::iota(all.output.begin(), all.output.end(), 0u);
  all.place = all.output;
  return all;
}

}  // namespace

FoldedNetwork fold_equal_outputs(const Network& network) {
  std::vector<SparseLayer> layers;
  std::uint64_t outputs = 0, kept_outputs = 0;
  Kept kept = all_inputs(network.neurons());
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    const SparseLayer layer = fold_inputs(network.layer(l), kept);
    kept = find_kept(layer);
    outputs += layer.outputs();
    kept_outputs += kept.output.size();
    layers.push_back(keep_outputs(layer, kept.output));
  }
  return {.network = MemoryNetwork(network.name() + ", folded", std::move(layers)),
          .outputs = outputs,
          .kept_outputs = kept_outputs};
}

}  // namespace winnow::challenge
