// A network without a network: accuracy is a formula of skill, sparsities and the shock of the last
// pruning. Skill and shock move with training as those of a network do.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "prune/evolution/trainee/importance.h"
#include "prune/evolution/trainee/trainee.h"
#include "runtime/base/error.h"
#include "runtime/base/random.h"

namespace winnow {

struct SyntheticLayer {
  std::int64_t blocks = 1000;
  double tolerance = 0.9;  // sparsity that costs nothing in the end
  double cost = 0.05;      // accuracy lost for good when density falls e times below that
  double shock = 0.05;     // accuracy lost until trained again, for the same fall anywhere
  double macs_per_weight = 1.0;
  std::int64_t rows = 1;  // that keep equally many blocks
  double migrates = 0.1;  // the share of what is kept that changes places with alpha 1
};

class SyntheticTrainee : public Trainee {
 public:
  struct State : Snapshot {
    double skill = 0.0;  // in [0, 1]
    double shock = 0.0;
    std::vector<double> sparsities;
    std::vector<double> shrunk;  // what penalties took from the norms of each layer's groups
  };

  explicit SyntheticTrainee(std::vector<SyntheticLayer> layers, double skill = 0.0)
      : synthetic_(std::move(layers)) {
    for (std::size_t i = 0; i < synthetic_.size(); ++i) {
      const std::int64_t blocks = synthetic_[i].blocks;
      layers_.push_back({.name = "layer" + std::to_string(i),
                         .blocks = blocks,
                         .weights = blocks,
                         .macs_per_weight = synthetic_[i].macs_per_weight,
                         .balanced_rows = synthetic_[i].rows,
                         .shape = {blocks}});
    }
    state_.skill = skill;
    state_.sparsities.assign(synthetic_.size(), 0.0);
    state_.shrunk.assign(synthetic_.size(), 0.0);
    strength.assign(synthetic_.size(), 1.0);
  }

  const std::vector<PrunableLayer>& layers() const override { return layers_; }
  const std::vector<double>& sparsities() const { return state_.sparsities; }

  double train_batches(std::int64_t first, std::int64_t count) override {
    ++calls;
    if (before_training) before_training(first);
    firsts.push_back(first);
    const double left = std::exp(-static_cast<double>(count) / 200.0);
    state_.skill = 1.0 - (1.0 - state_.skill) * left;
    state_.shock *= left;
    for (std::size_t i = 0; penalty.stage != GroupStage::none && i < synthetic_.size(); ++i) {
      state_.shrunk[i] += penalty.strengths[i] * static_cast<double>(count);
    }
    noise_ = noise * (2.0 * Random(17, static_cast<std::uint64_t>(first)).uniform() - 1.0);
    return diverges ? std::nan("") : 1.0 - measure_accuracy();
  }

  double measure_accuracy() override {
    double accuracy = 0.1 + 0.85 * state_.skill - state_.shock + noise_;
    for (std::size_t i = 0; i < synthetic_.size(); ++i) {
      const SyntheticLayer& layer = synthetic_[i];
      const double beyond = std::log((1.0 - layer.tolerance) / (1.0 - state_.sparsities[i]));
      accuracy -= layer.cost * std::max(0.0, beyond);
    }
    return std::clamp(accuracy, 0.0, ceiling);
  }

  double measure_loss(std::int64_t images) override {
    judged.push_back(images);
    return 1.0 - measure_accuracy();
  }

  bool has_finite_state() override { return !overflows; }

  // Blocks of layer i have magnitudes strength[i] (i + 1) / (rank + 1), pruned ones 0 if that is
  // asked for.
  std::vector<MagnitudeCurve> magnitude_curves() override {
    std::vector<MagnitudeCurve> curves;
    for (std::size_t i = 0; i < synthetic_.size(); ++i) {
      MagnitudeCurve curve{.ranks = curve_ranks(synthetic_[i].blocks)};
      double squares = 0.0;
      for (std::int64_t rank = 0; rank < synthetic_[i].blocks; ++rank) {
        const bool is_zero = zeroes_pruned && rank >= kept_blocks(layers_[i], state_.sparsities[i]);
        const double magnitude =
            is_zero ? 0.0
                    : strength[i] * static_cast<double>(i + 1) / static_cast<double>(rank + 1);
        squares += magnitude * magnitude;
        if (rank != curve.ranks[curve.magnitudes.size()]) continue;
        curve.magnitudes.push_back(magnitude);
        curve.squares.push_back(squares);
      }
      curves.push_back(std::move(curve));
    }
    return curves;
  }

  std::vector<Migration> recompute_masks(std::span<const double> sparsities,
                                         std::span<const double> alphas) override {
    ++recomputations;
    std::vector<Migration> migrations;
    for (std::size_t i = 0; i < synthetic_.size(); ++i) {
      const std::int64_t before = kept_blocks(layers_[i], state_.sparsities[i]);
      const std::int64_t after = kept_blocks(layers_[i], sparsities[i]);
      const double alpha = alphas.empty() ? 0.0 : alphas[i];
      const std::int64_t swapped = std::min(
          static_cast<std::int64_t>(alpha * synthetic_[i].migrates * static_cast<double>(after)),
          synthetic_[i].blocks - std::max(before, after));
      migrations.push_back({swapped + std::max<std::int64_t>(0, after - before),
                            swapped + std::max<std::int64_t>(0, before - after), after, after});
      const double fall = std::log((1.0 - state_.sparsities[i]) / (1.0 - sparsities[i]));
      state_.shock += synthetic_[i].shock * std::max(0.0, fall);
      state_.sparsities[i] = sparsities[i];
    }
    return migrations;
  }

  // Kernel shapes of one filter: each block is one, with the norms of magnitude_curves() less what
  // the penalty took.
  std::vector<GroupNorms> group_norms() override {
    std::vector<GroupNorms> norms;
    for (std::size_t i = 0; i < synthetic_.size(); ++i) {
      const std::int64_t kept = kept_blocks(layers_[i], state_.sparsities[i]);
      GroupNorms& layer = norms.emplace_back();
      for (std::int64_t j = 0; j < synthetic_[i].blocks; ++j) {
        const double norm = static_cast<double>(i + 1) / static_cast<double>(j + 1);
        layer.shapes.push_back(j < kept ? std::max(0.0, norm - state_.shrunk[i]) : 0.0);
      }
    }
    return norms;
  }

  void set_penalty(const GroupPenalty& wanted) override {
    penalty = wanted;
    penalties.push_back(wanted);
  }

  std::vector<Migration> keep_groups(std::span<const KeptGroups> kept) override {
    std::vector<double> sparsities;
    for (std::size_t i = 0; i < synthetic_.size(); ++i) {
      const auto stays = std::count(kept[i].shapes.begin(), kept[i].shapes.end(), 1);
      sparsities.push_back(1.0 -
                           static_cast<double>(stays) / static_cast<double>(synthetic_[i].blocks));
    }
    return recompute_masks(sparsities, {});
  }

  std::shared_ptr<const Snapshot> snapshot() override { return std::make_shared<State>(state_); }
  void restore(const Snapshot& snapshot) override {
    state_ = dynamic_cast<const State&>(snapshot);
    noise_ = 0.0;
    ++restorations;
  }

  std::uint64_t fingerprint(const Snapshot& snapshot) const override {
    std::uint64_t bits = 0;
    for (const double sparsity : dynamic_cast<const State&>(snapshot).sparsities) {
      bits = mix_bits(bits ^ std::bit_cast<std::uint64_t>(sparsity));
    }
    return bits;
  }

  void rewind_weights(const Snapshot& snapshot) override {
    state_.skill = dynamic_cast<const State&>(snapshot).skill;
    noise_ = 0.0;
    ++rewinds;
  }

  const State& now() const { return state_; }

  std::function<void(std::int64_t first)> before_training;  // may throw
  std::vector<double> strength;                             // [layers], of the magnitudes
  std::vector<std::int64_t> firsts;                         // of all calls
  std::vector<std::int64_t> judged;                         // images of all calls of measure_loss
  GroupPenalty penalty;                                     // the one of now
  std::vector<GroupPenalty> penalties;                      // of all calls of set_penalty
  double noise = 0.0;                                       // of an accuracy after training
  double ceiling = 1.0;                                     // of accuracies
  bool diverges = false;
  bool overflows = false;      // statistics, while loss and accuracy stay numbers
  bool zeroes_pruned = false;  // in magnitude_curves()
  int calls = 0;
  int recomputations = 0;
  int restorations = 0;
  int rewinds = 0;

 private:
  std::vector<SyntheticLayer> synthetic_;
  std::vector<PrunableLayer> layers_;
  State state_;
  double noise_ = 0.0;
};

}  // namespace winnow
