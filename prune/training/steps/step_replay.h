// Training steps that are recorded once and launched again.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "prune/training/steps/batches.h"
#include "prune/training/steps/step_graph.h"

namespace winnow {

// Runs a step on batch after batch: the first ones as they are, then as launches of a recording of
// one, which the host does in microseconds. Batches of another size run as they are. Both ways give
// equal bits, so it does not matter where a run was resumed.
class StepReplay {
 public:
  // Trains on a batch and gives its loss, as one value. It works on tensors that stay where they
  // are, waits for nothing and reads no value on the host.
  using Step = std::function<torch::Tensor(const DrawnBatch&)>;

  // Without a graph every step runs as it is.
  explicit StepReplay(std::unique_ptr<StepGraph> graph) : graph_(std::move(graph)) {}

  bool records() const { return graph_ != nullptr; }

  // Records anew at the next run().
  void forget();

  // `kind` names the step: another kind is recorded anew. The loss holds until the next run().
  torch::Tensor run(const DrawnBatch& batch, std::int64_t kind, const Step& step);

 private:
  bool fits(const DrawnBatch& batch) const;
  void begin(const DrawnBatch& batch, std::int64_t kind);
  torch::Tensor rehearse(const DrawnBatch& batch, const Step& step);

  std::unique_ptr<StepGraph> graph_;
  DrawnBatch batch_;  // what the recorded step reads
  torch::Tensor loss_;
  std::int64_t kind_ = 0;
  int rehearsals_ = 0;
  bool is_recorded_ = false;
};

}  // namespace winnow
