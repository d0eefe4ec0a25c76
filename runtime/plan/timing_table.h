// The one place for measured times, whatever the backend.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/program.h"
#include "runtime/plan/timing.h"
#include "runtime/plan/timing_store.h"

namespace winnow {

// Times by a key that names step or conversion, kernel and formats.
class TimingTable {
 public:
  using Measure = std::function<Timing()>;

  TimingTable() = default;
  TimingTable(TimingStore store, TimingPlace place)
      : store_(std::move(store)), place_(std::move(place)) {}

  // The time under `key`, which the cache may know; where there is none yet, what `measure`
  // returns, which is kept. With `has_cold`, `measure` takes times with cold caches too where
  // wants_cold() says so. The reference stays valid as long as the table.
  const Timing& get(const std::string& key, const Measure& measure, bool has_cold = false);

  // The time under `key`, or null; never measures.
  const Timing* find(const std::string& key, bool has_cold = false);

  // Keeps a time that was measured together with others.
  const Timing& put(const std::string& key, Timing timing);

  // The times under several keys, which `measure` takes together, in turns: all of them where one
  // is not known. It returns as many times as there are keys.
  std::vector<Timing> get_together(const std::vector<std::string>& keys,
                                   const std::function<std::vector<Timing>()>& measure);

  // What the cache knows to be chosen under `key`, by step; null if it does not or is not asked
  // (TimingStore::lists_candidates, is_renewed).
  const std::vector<ChosenKernel>* find_choice(const std::string& key);

  // Keeps a choice in the cache, unless it has just that.
  void keep_choice(const std::string& key, std::vector<ChosenKernel> kernels);

  bool wants_cold() const { return store_.wants_cold; }
  const TimingCounts& counts() const { return counts_; }

 private:
  TimingStore store_;
  TimingPlace place_;
  TimingCounts counts_;
  std::map<std::string, Timing> known_;
};

// Names a step: op, sizes with the batch, relu and a checksum of its weight. Steps of one key take
// the same time in the same kernel.
std::string step_key(const DeployedModel& model, const Program& program, const Step& step);

// The same without the weight.
std::string shape_key(const Program& program, const Step& step);

// A name of fixed length for a text of any length: equal texts have equal names, and different ones
// do not, but for one pair in 2^64.
std::string short_key(const std::string& text);

// Of the stored values and, of a sparse weight, their columns.
std::uint32_t checksum_of(const Weight& weight);

}  // namespace winnow
