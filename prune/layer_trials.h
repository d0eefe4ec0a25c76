// What a search of layers tried, as `prune --search-layers --json FILE` writes it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace winnow {

// Of a set of layers that was left out.
struct LayerTrial {
  std::vector<std::string> removed;
  double cost = 0.0;  // of the pruned network, in what the budget counts
  double accuracy = 0.0;
  std::string reason = {};  // why it was not trained; empty if it was

  double fitness() const;  // of a set that was not trained: below every accuracy
};

// `is_time`: the cost is in milliseconds, else in weights or multiply-accumulates.
nlohmann::ordered_json trial_json(const LayerTrial& trial, bool is_time);

// The trials of a file that a search wrote, finished or not, and its device. Throws Error{bad_file}
// if it is no such file, and Error{usage} if its settings, the text that must be the same, are
// others.
struct EarlierTrials {
  std::vector<LayerTrial> trials;
  std::string device;
};
EarlierTrials read_trials(const std::string& path, const std::string& settings);

// For a search that begins anew. Throws Error{usage} if the file has trials.
void require_no_trials(const std::string& path);

}  // namespace winnow
