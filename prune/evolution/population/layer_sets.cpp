#include "prune/evolution/population/layer_sets.h"

#include <algorithm>
#include <string>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

const std::vector<std::string> kNames = {"evolution", "greedy", "random"};  // as SetSearch

constexpr int kMostAttempts = 1000;  // at a set that is new: more only where nearly all are tried

}  // namespace

std::string_view to_string(SetSearch search) {
  return kNames[static_cast<std::size_t>(search)];
}

SetSearch set_search_from(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<SetSearch>(found - kNames.begin());
  fail(ErrorCode::usage, "unknown search ", in_quotes(name), suggestion(name, kNames));
}

LayerSets::LayerSets(std::size_t layers, const LayerSetOptions& options)
    : layers_(layers), options_(options), random_(options.seed), from_(layers, false) {
  if (options.search != SetSearch::evolution) return;
  alone_ = permutation(static_cast<std::int64_t>(layers), random_);
  alone_.resize(std::min(layers, options.most_alone));
}

std::optional<LayerSet> LayerSets::next() {
  LayerSet set(layers_, false);
  if (options_.search == SetSearch::greedy && !tried_.empty()) {
    const std::optional<LayerSet> more = next_greedy();
    if (!more) return std::nullopt;
    set = *more;
  }
  const bool is_random = options_.search == SetSearch::random;
  for (int attempt = 0; !is_new(set); ++attempt) {
    if (attempt == kMostAttempts) return std::nullopt;
    set = is_random ? random_set() : next_of_evolution();
  }
  tried_.insert(set);
  return set;
}

void LayerSets::add(const LayerSet& set, double fitness) {
  const auto behind =
      std::ranges::find_if(best_, [&](const Rated& other) { return other.second < fitness; });
  best_.insert(behind, {set, fitness});
}

LayerSet LayerSets::random_set() {
  const double share = random_.uniform();
  LayerSet set(layers_, false);
  for (std::size_t i = 0; i < layers_; ++i) set[i] = random_.chance(share);
  return set;
}

const LayerSet& LayerSets::parent() {
  const std::size_t count = std::min(best_.size(), options_.population);
  const std::uint64_t a = random_.below(count), b = random_.below(count);
  return best_[std::min(a, b)].first;
}

LayerSet LayerSets::next_of_evolution() {
  if (alone_.empty()) return child();
  LayerSet set(layers_, false);
  set[static_cast<std::size_t>(alone_.back())] = true;
  alone_.pop_back();
  return set;
}

LayerSet LayerSets::child() {
  LayerSet set = parent();
  const LayerSet& other = parent();
  if (random_.chance(0.5)) {
    for (std::size_t i = 0; i < layers_; ++i) set[i] = set[i] || other[i];
    return set;
  }
  if (random_.chance(0.5)) {
    for (std::size_t i = 0; i < layers_; ++i) {
      if (random_.chance(0.5)) set[i] = other[i];
    }
  }
  mutate(set);
  return set;
}

void LayerSets::mutate(LayerSet& set) {
  const std::size_t certain = random_.below(layers_);
  for (std::size_t i = 0; i < layers_; ++i) {
    const bool changes = random_.chance(1.0 / static_cast<double>(layers_));
    if (changes || i == certain) set[i] = !set[i];
  }
}

// Layers are tried on top of one set; once all were, the best set so far takes its place.
std::optional<LayerSet> LayerSets::next_greedy() {
  for (;;) {
    for (; added_ < layers_; ++added_) {
      LayerSet set = from_;
      set[added_] = true;
      if (is_new(set)) return set;
    }
    if (best_.empty() || best_.front().first == from_) return std::nullopt;
    from_ = best_.front().first;
    added_ = 0;
  }
}

}  // namespace winnow
