// Training steps that are recorded once and launched again.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "prune/training/steps/batches.h"
#include "prune/training/steps/step_graph.h"

namespace winnow {

// What makes a step another one than those before it.
struct StepKind {
  bool is_pruning = false;
  std::int64_t images = 0;  // of the whole batch, of which ranks train on parts

  bool operator==(const StepKind&) const = default;
};

// Runs a step on batch after batch: the first ones as they are, then as launches of a recording of
// one, which the host does in microseconds. An epoch's batches and its shorter last one are two
// recordings; what fits neither runs as it is. Both ways give equal bits, so it does not matter
// where a run was resumed.
class StepReplay {
 public:
  // Trains on a batch and gives its loss, as one value. It works on tensors that stay where they
  // are, waits for nothing and reads no value on the host.
  using Step = std::function<torch::Tensor(const DrawnBatch&)>;

  // Without graphs every step runs as it is.
  explicit StepReplay(std::unique_ptr<StepGraphs> graphs) : graphs_(std::move(graphs)) {}

  bool records() const { return graphs_ != nullptr; }

  // Records anew at the next run().
  void forget();

  // Steps of pruning and others are not kept together: one forgets the other. The loss holds until
  // the next run().
  torch::Tensor run(const DrawnBatch& batch, const StepKind& kind, const Step& step);

 private:
  struct Recording {
    StepKind kind;
    DrawnBatch batch;  // what the recorded step reads
    torch::Tensor loss = {};
    int rehearsals = 0;
    std::optional<std::size_t> number = {};  // of the graph
  };

  Recording* recording_of(const DrawnBatch& batch, const StepKind& kind);
  torch::Tensor rehearse(const DrawnBatch& batch, const Step& step);

  std::unique_ptr<StepGraphs> graphs_;
  std::deque<Recording> recordings_;
};

}  // namespace winnow
