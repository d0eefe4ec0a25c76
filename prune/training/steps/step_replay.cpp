#include "prune/training/steps/step_replay.h"

#include <algorithm>

namespace winnow {
namespace {

// Steps before the recording, in which libraries choose their algorithms and take their memory.
constexpr int kRehearsals = 3;
constexpr std::size_t kRecordings = 2;

}  // namespace

torch::Tensor StepReplay::run(const DrawnBatch& batch, const StepKind& kind, const Step& step) {
  Recording* const recording = graphs_ ? recording_of(batch, kind) : nullptr;
  if (!recording) return step(batch);
  if (recording->rehearsals < kRehearsals) {
    ++recording->rehearsals;
    return rehearse(batch, step);
  }
  recording->batch.bytes.copy_(batch.bytes);
  recording->batch.target.copy_(batch.target);
  recording->batch.changes.copy_(batch.changes);
  if (!recording->number) {
    recording->number = graphs_->record([&] { recording->loss = step(recording->batch); });
  }
  graphs_->launch(*recording->number);
  return recording->loss;
}

void StepReplay::forget() {
  recordings_.clear();
  if (graphs_) graphs_->forget();
}

// The first batch of a kind says the size.
StepReplay::Recording* StepReplay::recording_of(const DrawnBatch& batch, const StepKind& kind) {
  if (!recordings_.empty() && recordings_.front().kind.is_pruning != kind.is_pruning) forget();
  const auto found = std::find_if(recordings_.begin(), recordings_.end(),
                                  [&](const Recording& known) { return known.kind == kind; });
  if (found != recordings_.end()) {
    return found->batch.bytes.sizes() == batch.bytes.sizes() ? &*found : nullptr;
  }
  if (recordings_.size() == kRecordings) return nullptr;
  recordings_.push_back({.kind = kind,
                         .batch = {torch::empty_like(batch.bytes), torch::empty_like(batch.target),
                                   torch::empty(batch.changes.sizes(), batch.changes.options())}});
  return &recordings_.back();
}

torch::Tensor StepReplay::rehearse(const DrawnBatch& batch, const Step& step) {
  torch::Tensor loss;
  graphs_->run([&] { loss = step(batch); });
  return loss;
}

}  // namespace winnow
