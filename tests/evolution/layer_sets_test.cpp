#include "prune/evolution/population/layer_sets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/throws.h"

namespace winnow {
namespace {

// More for each layer of `good` that is left out, less for each other, and a bonus for all of them
// together, which no single layer shows.
double fitness_of(const LayerSet& set, const LayerSet& good) {
  double sum = 0.0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i]) sum += good[i] ? 1.0 : -1.0;
  }
  return sum + (set == good ? 1.0 : 0.0);
}

std::vector<LayerSet> tried(LayerSets sets, const LayerSet& good, int trials) {
  std::vector<LayerSet> all;
  for (int t = 0; t < trials; ++t) {
    const std::optional<LayerSet> set = sets.next();
    if (!set) break;
    all.push_back(*set);
    sets.add(*set, fitness_of(*set, good));
  }
  return all;
}

std::size_t trials_to(const LayerSet& good, const LayerSetOptions& options) {
  const std::vector<LayerSet> all = tried(LayerSets(good.size(), options), good, 1000);
  return static_cast<std::size_t>(std::ranges::find(all, good) - all.begin());
}

const LayerSet kGood = {false, false, true, false, true, true, true, false, true, true};

}  // namespace

TEST_CASE("each set is proposed once, the empty one first, until all are tried") {
  for (const SetSearch search : {SetSearch::evolution, SetSearch::random}) {
    CAPTURE(to_string(search));
    const LayerSet good = {true, false, true, true};
    const std::vector<LayerSet> all = tried(LayerSets(4, {search, 3, 5}), good, 100);
    CHECK(all.front() == LayerSet(4, false));
    CHECK(std::set<LayerSet>(all.begin(), all.end()).size() == all.size());
    CHECK(all.size() == 16);
  }
}

TEST_CASE("equal seeds propose equal sets, others do not") {
  const auto with = [](std::uint64_t seed) {
    return tried(LayerSets(kGood.size(), {SetSearch::evolution, 6, seed}), kGood, 40);
  };
  CHECK(with(3) == with(3));
  CHECK(with(3) != with(4));
}

TEST_CASE("greedy tries one layer more than the best set, and ends where none gains") {
  const LayerSet good = {true, false, true};
  const std::vector<LayerSet> expected = {
      {false, false, false}, {true, false, false}, {false, true, false}, {false, false, true},
      {true, true, false},   {true, false, true},  {true, true, true}};
  CHECK(tried(LayerSets(3, {SetSearch::greedy, 6, 1}), good, 100) == expected);
}

TEST_CASE("the evolution begins with each layer alone, and with no more of them than it is told") {
  for (const auto& [most, alone] : {std::pair<std::size_t, std::ptrdiff_t>{16, 10}, {4, 4}}) {
    const LayerSetOptions options = {SetSearch::evolution, 6, 2, most};
    const std::vector<LayerSet> all = tried(LayerSets(kGood.size(), options), kGood, 11);
    const auto is_alone = [](const LayerSet& set) { return std::ranges::count(set, true) == 1; };
    const auto from = all.begin() + 1;
    CHECK(std::all_of(from, from + alone, is_alone));
    CHECK(std::count_if(all.begin(), all.end(), is_alone) >= alone);
  }
  const auto first = [](std::uint64_t seed) {
    return tried(LayerSets(kGood.size(), {SetSearch::evolution, 6, seed, 16}), kGood, 2).back();
  };
  CHECK(first(1) != first(2));
}

// Twelve of twenty layers: greedy tries twenty, then nineteen, and so on.
TEST_CASE("the evolution unites what its best sets leave out, and is there before greedy is") {
  LayerSet good(20, true);
  for (std::size_t i = 0; i < good.size(); i += 5) good[i] = good[i + 2] = false;
  const std::size_t greedy = trials_to(good, {SetSearch::greedy, 6, 1});
  double evolution = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    evolution += static_cast<double>(trials_to(good, {SetSearch::evolution, 6, seed})) / 20;
  }
  MESSAGE("trials: evolution, mean of 20 seeds, " << evolution << ", greedy " << greedy);
  CHECK(evolution < 0.8 * static_cast<double>(greedy));
}

// Six of ten layers: 1024 sets.
TEST_CASE("the evolution finds a set in fewer trials than chance does") {
  double evolution = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    evolution += static_cast<double>(trials_to(kGood, {SetSearch::evolution, 6, seed}));
    random += static_cast<double>(trials_to(kGood, {SetSearch::random, 6, seed}));
  }
  MESSAGE("trials, mean of 20 seeds: evolution " << evolution / 20 << ", random " << random / 20);
  CHECK(evolution < 0.3 * random);
}

TEST_CASE("searches have names") {
  CHECK(set_search_from("greedy") == SetSearch::greedy);
  const auto wrong = [] { set_search_from("evolutoin"); };
  CHECK(error_of(wrong) == ErrorCode::usage);
  CHECK(message_of(wrong).find("did you mean 'evolution'?") != std::string::npos);
}

}  // namespace winnow
