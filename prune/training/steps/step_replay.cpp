#include "prune/training/steps/step_replay.h"

namespace winnow {
namespace {

// Steps before the recording, in which libraries choose their algorithms and take their memory.
constexpr int kRehearsals = 3;

}  // namespace

torch::Tensor StepReplay::run(const DrawnBatch& batch, std::int64_t kind, const Step& step) {
  if (!graph_) return step(batch);
  if (!batch_.bytes.defined() || kind != kind_) begin(batch, kind);
  if (!fits(batch)) return step(batch);
  if (rehearsals_ < kRehearsals) return rehearse(batch, step);
  batch_.bytes.copy_(batch.bytes);
  batch_.target.copy_(batch.target);
  batch_.changes.copy_(batch.changes);
  if (!is_recorded_) {
    loss_ = torch::Tensor();
    graph_->record([&] { loss_ = step(batch_); });
    is_recorded_ = true;
  }
  graph_->launch();
  return loss_;
}

void StepReplay::forget() {
  batch_ = {};
  loss_ = torch::Tensor();
  if (graph_) graph_->forget();
}

bool StepReplay::fits(const DrawnBatch& batch) const {
  return batch.bytes.sizes() == batch_.bytes.sizes();
}

// The first batch of a kind says the size.
void StepReplay::begin(const DrawnBatch& batch, std::int64_t kind) {
  batch_ = {torch::empty_like(batch.bytes), torch::empty_like(batch.target),
            torch::empty(batch.changes.sizes(), batch.changes.options())};
  kind_ = kind;
  rehearsals_ = 0;
  is_recorded_ = false;
}

torch::Tensor StepReplay::rehearse(const DrawnBatch& batch, const Step& step) {
  ++rehearsals_;
  torch::Tensor loss;
  graph_->run([&] { loss = step(batch); });
  return loss;
}

}  // namespace winnow
