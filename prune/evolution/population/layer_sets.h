// Which layers a network does without: sets of layers, tried one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/random.h"

namespace winnow {

// By candidate: whether the layer is left out.
using LayerSet = std::vector<bool>;

enum class SetSearch {
  evolution,  // children of the best sets: crossed over, mutated
  greedy,     // one layer more than the best set, as long as that gains
  random,     // random sets alone
};

std::string_view to_string(SetSearch search);

// Throws Error{usage} with a did-you-mean.
SetSearch set_search_from(std::string_view name);

struct LayerSetOptions {
  SetSearch search = SetSearch::evolution;
  std::size_t population = 6;  // of the evolution
  std::uint64_t seed = 1;
};

// Proposes each set at most once, the empty one first. Equal options and fitnesses give equal
// proposals.
//
// A random set leaves each layer out with one probability, which is drawn anew for each set,
// uniformly from [0, 1]: all sizes are equally likely. The evolution begins with `population` sets
// in all: the empty one and random ones. Then a child has a parent, the better of two of the
// `population` best sets; with probability 1/2 each of its layers is that of a second parent with
// probability 1/2 (uniform crossover); and of n layers each changes with probability 1/n, one at
// least.
class LayerSets {
 public:
  // Requires at least one layer and one set in the population.
  LayerSets(std::size_t layers, const LayerSetOptions& options);

  // The next set to try; nothing where all were tried, or nothing gains (greedy).
  std::optional<LayerSet> next();

  // How good a set is that was proposed: more is better, of equals the earlier one.
  void add(const LayerSet& set, double fitness);

 private:
  using Rated = std::pair<LayerSet, double>;

  bool is_new(const LayerSet& set) const { return !tried_.contains(set); }
  LayerSet random_set();
  const LayerSet& parent();
  LayerSet child();
  std::optional<LayerSet> next_greedy();

  std::size_t layers_;
  LayerSetOptions options_;
  Random random_;
  std::set<LayerSet> tried_;
  std::vector<Rated> best_;  // best first
  LayerSet from_;            // greedy: what layers are added to
  std::size_t added_ = 0;    // greedy: the next of them
};

}  // namespace winnow
