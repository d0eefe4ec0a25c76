// A whole run of `prune`, as its YAML file says it. docs/commands.md explains every key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "prune/data/augment.h"
#include "prune/data/data_set.h"
#include "prune/evolution/evolution_config.h"
#include "prune/methods/method_config.h"
#include "prune/training/steps/schedule.h"
#include "prune/training/train_config.h"
#include "runtime/model/architectures.h"
#include "runtime/model/graph.h"

namespace winnow {

// A built-in architecture or a graph, or a checkpoint with the network and its weights; beside that
// the others must name the same network.
struct ModelConfig {
  std::string weights;                 // a safetensors file of import, prune or quantize; absolute
  bool removes_zero_channels = false;  // of `weights`: its network gets smaller layers
  std::vector<std::string> removed_layers;  // of whatever network (layer_removal.h)
  std::string architecture;
  double dropout = 0.0;
  Stem stem = Stem::automatic;  // of ResNets and DenseNets
  std::int64_t embedding = 0;   // of words; 0: the width of data.vectors, 300 without them
  std::optional<Graph> graph;
};

enum class Start { scratch, dense, weights };  // what the evolution begins with
enum class Masks { none, from_zeros, file };   // what is pruned of `model.weights` at the start

// The granularity as `prune.granularity` has it: "element", "vector8", "channel",
// "mixed".
std::string granularity_name(std::int64_t vector);

// `prune:` without the keys of methods.
struct PruneStage {
  Start start = Start::scratch;
  Masks masks = Masks::none;
  // Granularity: 1 element, 8, 16 or 32 output channels, 0 (kWholeChannels) whole ones, -1 (kMixed)
  // each layer's own of the first four.
  std::int64_t vector = 1;
  bool row_balance = false;            // all output channels of a layer keep equally many
  bool permutes_channels = false;      // into an order that suits masks of vectors
  bool uses_fisher = false;            // what blocks are ranked by (TraineeOptions)
  bool feedback = false;               // pruned weights are trained on (TraineeOptions)
  double feedback_decay = 0;           // and drawn to 0 (TraineeOptions)
  RateSchedule rate = {.rate = 0.05};  // times in iterations
  Distillation distillation;           // from the baseline or `teacher`
  std::string teacher;                 // a checkpoint; absolute. Empty: the baseline teaches
  // Training images that batch norm's statistics are taken from anew before each measurement of the
  // evolution; 0: they are those of training.
  std::int64_t batch_norm_images = 0;
};

// The closed loop of a budget of time: the pruned network is exported and measured, and pruned
// again if it is not as fast as predicted (prune/timing/time_rounds.h).
struct TimeLoop {
  std::int64_t rounds = 0;  // in which the network is pruned and measured, at most; 0: no loop
  double tolerance = 0.1;   // by which the measured time may differ from the predicted one
  std::string programs;     // folder of export and runtime; empty: beside prune. Absolute
};

struct RunConfig {
  std::string name;
  std::int64_t seed = 1;
  std::string device = "auto";
  std::string output;        // run folder; empty: runs/<name>
  std::int64_t threads = 0;  // CPU threads; 0: one per core
  DataConfig data;
  AugmentConfig augment;
  ModelConfig model;
  TrainConfig train;
  PruneStage stage;
  MethodConfig method;
  EvolutionConfig evolution;    // its seed is the run's; without times, which time_table.h reads
  std::string time_table;       // file; absolute. Empty without a budget of time
  std::int64_t time_batch = 0;  // which of its batch sizes; 0: the only one
  TimeLoop time_loop;
  double checkpoint_seconds = 60.0;
  std::map<std::string, std::string> places;  // of the keys given; under "" the file

  // Begins a message about the value of `key` ("prune.exclude"): "a.yaml:7:3: ", "a.yaml: " if the
  // key was not given, nothing if the configuration was not read.
  std::string place(const std::string& key) const;

  // Whether there is a network to compare the pruned one with: a trained one, or the weights given.
  bool has_baseline() const { return train.epochs > 0 || !model.weights.empty(); }

  std::string run_folder() const { return output.empty() ? "runs/" + name : output; }
};

// Reads a configuration file, then applies `overrides` ("train.epochs=3"). Relative paths of graph
// files and checkpoints start at the configuration's folder, those of overrides at the current
// one. Throws Error{bad_file} if the file cannot be read or exceeds 1 MiB, and Error{usage} for
// everything else, with file, line and column or the argument where a value that was given is
// wrong, and with the file where one is missing: no YAML, YAML that is not strict
// (yaml_strictness.h), unknown or repeated keys (with a did-you-mean), wrong types, values out of
// range, missing keys, keys that contradict each other.
RunConfig read_run_config(const std::string& file, std::span<const std::string> overrides = {});

// YAML that reads back as an equal configuration but for `places`, every key written out.
std::string write_run_config(const RunConfig& config);

// True if `file` is one that write_run_config() made. Throws nothing.
bool is_written_config(const std::string& file);

// All keys with their sections: "seed", "train", "train.epochs", ...
std::vector<std::string> run_config_keys();

}  // namespace winnow
