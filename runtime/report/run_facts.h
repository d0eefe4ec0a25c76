// What the stages of a run left behind in its folder, as far as they are there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow {

struct LayerFacts {
  std::string name;
  std::int64_t weights = 0;
  double sparsity = 0;                    // share of weights that are zero
  std::string granularity;                // of its mask; empty where all layers have one
  std::optional<double> dense_f32_bytes;  // as fp32, zeros included
  std::optional<double> stored_bytes;     // in the model file
};

// A kernel family that fits a layer: the time of its fastest kernel, or why it may not run. It has
// neither where a later layer's kernel has the time of both.
struct FamilyTime {
  std::string family;
  std::optional<double> ms;  // of the batch
  std::string rejected;      // empty where `ms` is there
};

// Times of one layer at the report's batch size, in milliseconds.
struct LayerTime {
  std::string name;
  std::optional<double> dense_ms;
  std::optional<double> sparse_ms;
  double chosen_ms = 0;
  std::string kernel;
  std::string op = {};
  std::optional<double> dense_macs = {};  // multiply-adds of the batch, zeros included
  std::optional<double> weight_sparsity = {};
  std::vector<FamilyTime> eligible = {};  // empty where nothing was timed to choose a kernel
};

// A node of the deployed network, in an order in which every input precedes its use.
struct NodeFacts {
  std::string name, op;
  std::vector<std::string> inputs;
  std::string output_shape;          // of one sample: "[64, 32, 32]"
  std::optional<double> dense_macs;  // of one sample; nothing for 0
  std::optional<double> sparsity;    // of its weights
};

// The deployed model beside another one, which is called the dense one, on the same labelled
// images.
struct AgreementFacts {
  struct Class {
    std::string name;
    std::int64_t samples = 0, correct = 0, against_correct = 0, agreeing = 0;
  };
  struct Answer {  // how often the dense model said one class where the deployed one said another
    std::size_t against = 0, model = 0;  // in `classes`
    std::int64_t count = 0;
  };
  std::string against;  // its file
  std::int64_t samples = 0, agreeing = 0;
  double accuracy = 0, against_accuracy = 0;  // fractions
  std::vector<Class> classes;
  std::vector<Answer> answers;
};

struct BatchFacts {
  std::string device;
  std::string precision;
  std::int64_t batch = 1;
  std::optional<double> dense_ms;  // median of the whole network, per batch
  std::optional<double> sparse_ms;
  double chosen_ms = 0;
  std::optional<double> against_ms = {};  // of the other model that was timed in turns with it
  std::vector<LayerTime> layers = {};
};

// A point of metrics.jsonl. A loss that is not finite is missing.
struct EpochPoint {
  double epoch = 0, learning_rate = 0;
  std::optional<double> loss, accuracy;  // accuracy as a fraction
};
struct IterationPoint {
  double iteration = 0, accuracy = 0, sparsity = 0, alpha = 0, migration = 0;
  double pool_best = 0;
  std::optional<double> loss;
  bool is_accepted = false;
  std::string action;
  std::optional<double> predicted_ms = {};  // with a budget of time
  // Of each layer that is pruned, in the network's order: what masks keep no longer, and what is
  // known of the accuracy lost when its density falls e times (Algorithm 1, line 16).
  std::vector<std::pair<std::string, double>> sparsities = {}, sensitivities = {};
};

// A member of the pool of solutions at the end.
struct MemberFacts {
  std::string solution;  // its number
  double accuracy = 0, sparsity = 0;
  bool is_answer = false;
  std::vector<std::pair<std::string, double>> sparsities;  // as of IterationPoint
  std::optional<double> fitness = {};                      // by which solutions are chosen
};

// A network that was deployed and measured in the loop of a budget of time.
struct TimePoint {
  std::string network;  // "rehearsal", "pruned"
  double predicted_ms = 0, measured_ms = 0;
};

// The numbers and texts that a stage's summary has at its top, as text by key. Of bench: those of
// its first batch size.
struct StageFacts {
  std::string stage;  // "prune"
  std::map<std::string, std::string> values;
};

struct RunFacts {
  std::string name, network, data, scheme, model_file, config_text;
  std::optional<double> dense_accuracy, pruned_accuracy;  // fractions, test set
  std::optional<double> quantized_accuracy, deployed_accuracy;
  std::optional<double> sparsity;
  std::optional<double> predicted_ms;    // of the pruned network, by the table of its time budget
  std::optional<double> table_dense_ms;  // of the dense one, by the same
  std::string table_device;              // that the table is of
  std::size_t removed_layers = 0;        // that the network is without
  std::optional<double> file_bytes, dense_f32_bytes;
  std::string deployed_device;
  std::vector<StageFacts> stages;  // those that left a summary, in the order of the pipeline
  std::vector<LayerFacts> layers;
  std::vector<BatchFacts> batches;
  std::vector<EpochPoint> epochs;
  std::vector<IterationPoint> iterations;  // of the last round, where there are several
  std::vector<MemberFacts> population;     // in the order of birth
  std::vector<TimePoint> measurements;
  std::vector<NodeFacts> nodes;
  std::optional<AgreementFacts> agreement;
};

// Reads prune.json, quantize.json, export.json, run.json, bench.json, inspect.json, metrics.jsonl
// and config.yaml of `folder`; missing files leave their facts empty. A run may go on meanwhile: a
// last line of the metrics that is not ended is left out. Throws Error{bad_file} if a file is there
// and damaged, or none of them is there.
RunFacts read_run_facts(const std::string& folder);

}  // namespace winnow
