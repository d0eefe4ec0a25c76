// The program `prune`: a configuration in, a run folder out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "prune/config/run_config.h"
#include "prune/run/run_folder.h"

namespace winnow {

class StorePeers;

struct PruneOptions {
  FolderUse use = FolderUse::fresh;
  bool is_quiet = false;
  // Asked after every batch of training and between those of measurements; true saves a checkpoint
  // and ends the run with Error{interrupted}.
  std::function<bool()> should_stop = {};
  // Called once data and checkpoint are read, or rank 0 has read them: from now on a stop has
  // something to save.
  std::function<void()> on_begin = {};
  // The ranks of the run, if there are several: run_prune is for rank 0, join_run (joined_run.h)
  // for the others; and this one's number on its machine.
  StorePeers* peers = nullptr;
  std::int64_t local_rank = 0;
};

// Accuracies are fractions of the test images.
struct PruneSummary {
  double dense_accuracy = 0.0;  // 0 without a baseline (RunConfig::has_baseline)
  double pruned_accuracy = 0.0;
  double sparsity = 0.0;  // of all conv and linear weights
  bool target_met = false;
  std::string shortfall;  // why not
  std::string processes;  // how many there were and how networks went between them; "" of one
  std::string time;    // closed loop of a budget of time: what was predicted and measured at last
  std::string notice;  // the same, where they differ but the target is met
  std::string json;    // all of it, as in prune.json
};

// Trains the dense baseline, runs the evolution, and writes dense.safetensors, pruned.safetensors,
// metrics.jsonl, config.yaml, prune.json and report.html into the run folder;
// checkpoint.safetensors while it lasts. Decoded picture folders are kept in .image-cache beside
// the run folder. Progress goes to stderr.
PruneSummary run_prune(const RunConfig& config, const PruneOptions& options);

// What a configuration comes to, without training: the data set, the network's layers and the
// schedule, as text for people, fit for a terminal. Throws what run_prune would throw before
// training, leaves no file, and holds the run folder, if it is there, until it returns.
std::string describe_run(const RunConfig& config, const PruneOptions& options);

// The network that a configuration names, for samples of this form, without the layers that it
// removes.
Graph make_graph(const RunConfig& config, const DataSet& data);

// Removes these layers from the network of `model.weights`. If the configuration names a network
// too, the file's may lack them already. Throws Error{usage} with the place of the key where
// remove_layers() does.
void remove_layers_of(const RunConfig& config, Model& given);

// Where decoded picture folders are kept: beside the run folder, for the next run; not in it,
// however its path is spelled.
std::string image_cache(const RunConfig& config);

// write_run_config() of what a resumed run must share with the run it continues: all but device,
// threads, output folder and checkpoint interval.
std::string comparable_config(const RunConfig& config);

}  // namespace winnow
