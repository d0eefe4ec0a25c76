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
  evolution,  // layers alone, then children of the best sets: united, crossed over, mutated
  greedy,     // one layer more than the best set, as long as that gains
  random,     // random sets alone
};

std::string_view to_string(SetSearch search);

// Throws Error{usage} with a did-you-mean.
SetSearch set_search_from(std::string_view name);

struct LayerSetOptions {
  SetSearch search = SetSearch::evolution;
  std::size_t population = 6;  // of the evolution: the best sets, which have children
  std::uint64_t seed = 1;
  std::size_t most_alone = 16;  // of the evolution: sets of one layer that it begins with, at most
};

// Proposes each set at most once, the empty one first. Equal options and fitnesses give equal
// proposals.
//
// A random set leaves each layer out with one probability, which is drawn anew for each set,
// uniformly from [0, 1]: all sizes are equally likely.
//
// The evolution begins with the empty set and those of one layer, in random order: what each layer
// loses alone is the best known start, and random sets of several layers mostly lose everything.
// Then a child has two parents, each the better of two of the `population` best sets, and with
// probability 1/2 leaves out what either of them does (union). Otherwise it is the first parent,
// with probability 1/2 crossed over with the second (uniform crossover), and of n layers each
// changes with probability 1/n, one at least (mutation).
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
  void mutate(LayerSet& set);
  LayerSet next_of_evolution();
  std::optional<LayerSet> next_greedy();

  std::size_t layers_;
  LayerSetOptions options_;
  Random random_;
  std::set<LayerSet> tried_;
  std::vector<Rated> best_;          // best first
  std::vector<std::int64_t> alone_;  // evolution: layers to leave out alone, the last one next
  LayerSet from_;                    // greedy: what layers are added to
  std::size_t added_ = 0;            // greedy: the next of them
};

}  // namespace winnow
