// Begins with a regular wiring under random names, then swaps the inputs of random pairs of
// connections wherever that joins no pair twice. Swaps keep every count, and enough of them lead
// to any regular wiring (Taylor, "Constrained switchings in graphs", 1981).
#include "runtime/challenge/generate/random_wiring.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace winnow::challenge {
namespace {

constexpr std::uint64_t kSwapsPerConnection = 2;  // each is drawn four times on average

std::vector<std::uint32_t> random_names(std::uint32_t count, Random& random) {
  std::vector<std::uint32_t> names(count);
  for (std::uint32_t i = 0; i < count; ++i) names[i] = i;
  shuffle(names, random);
  return names;
}

// Output j reads j + t for t in [0, connections), all under random names.
std::vector<std::uint32_t> regular_wiring(std::uint32_t neurons, std::uint32_t connections,
                                          Random& random) {
  const std::vector<std::uint32_t> output = random_names(neurons, random);
  const std::vector<std::uint32_t> input = random_names(neurons, random);
  std::vector<std::uint32_t> wiring(std::size_t{neurons} * connections);
  for (std::uint32_t j = 0; j < neurons; ++j) {
    std::uint32_t* row = wiring.data() + std::size_t{output[j]} * connections;
    for (std::uint32_t t = 0; t < connections; ++t) {
      row[t] = input[static_cast<std::size_t>((std::uint64_t{j} + t) % neurons)];
    }
  }
  return wiring;
}

// Not std::find, which would stop early but compare one at a time.
bool reads(std::span<const std::uint32_t> row, std::uint32_t input) {
  std::uint32_t hits = 0;
  for (const std::uint32_t other : row) hits += other == input;
  return hits > 0;
}

}  // namespace

std::vector<std::uint32_t> random_wiring(std::uint32_t neurons, std::uint32_t connections,
                                         Random& random) {
  std::vector<std::uint32_t> wiring = regular_wiring(neurons, connections, random);
  const auto row_of = [&](std::uint64_t at) {
    return std::span(wiring).subspan(at / connections * connections, connections);
  };
  for (std::uint64_t left = kSwapsPerConnection * wiring.size(); left > 0; --left) {
    const std::uint64_t a = random.below(wiring.size()), b = random.below(wiring.size());
    if (!reads(row_of(a), wiring[b]) && !reads(row_of(b), wiring[a])) {
      std::swap(wiring[a], wiring[b]);
    }
  }
  for (std::uint64_t at = 0; at < wiring.size(); at += connections) {
    std::sort(row_of(at).begin(), row_of(at).end());
  }
  return wiring;
}

}  // namespace winnow::challenge
