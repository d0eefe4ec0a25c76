// Methods that train one network and prune it as they go.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"
#include "prune/methods/method_config.h"
#include "prune/methods/pruning_method.h"

namespace winnow {

// Its state's pool holds, in the order of birth, what the method goes back to, the answer so far
// and the network now, which is the last. Solution 0 is the network at the start, solution i + 1
// that after iteration i. The answer is the most accurate one that meets the goal, as Algorithm 1
// has it. An iteration whose loss is no number is not accepted: the network stays what it was.
class SingleNetwork : public PruningMethod {
 public:
  bool finished() const override { return state_.iteration >= config_.iter_nr; }
  std::vector<IterationRecord> step() final;  // one
  const EvolutionState& state() const override { return state_; }
  EvolutionResult result() const override { return result_of(config_, budget_, state_); }

 protected:
  SingleNetwork(const MethodConfig& method, const EvolutionConfig& config, Trainee& trainee,
                EvolutionState state);

  // Comes before an iteration's batches: prunes, or does not. The trainee has the network now.
  virtual void prepare(const EvolutionState& state, IterationRecord& record) = 0;

  // How many of an iteration's batches are trained before prepare_again().
  virtual std::int64_t batches_between_masks() const { return config_.batch_nr; }

  // Comes before the batches that follow the first `done` ones of an iteration.
  virtual void prepare_again(std::int64_t, const EvolutionState&, IterationRecord&) {}

  // Whether a solution stays in the pool although it is neither the newest nor the answer.
  virtual bool goes_back_to(const Solution& solution) const = 0;

  // New masks by magnitude, of the density that the method's allocation gives each layer.
  void prune_to(double density, IterationRecord& record);

  // New masks of these groups, [layers].
  void keep_groups(std::span<const KeptGroups> kept, IterationRecord& record);

  // Weights under the masks of the step under way, [layers].
  const std::vector<std::int64_t>& kept_weights() const { return kept_weights_; }

  const MethodConfig& method() const { return method_; }
  const EvolutionConfig& config() const { return config_; }
  const LayerBudget& budget() const { return budget_; }
  Trainee& trainee() const { return trainee_; }

 private:
  double train(const EvolutionState& state, IterationRecord& record);
  void note(std::span<const Migration> moved, IterationRecord& record);
  void begin(EvolutionState& state) const;
  Solution make_child(const EvolutionState& state, const IterationRecord& record) const;
  void replace(EvolutionState& state, Solution child) const;
  void finish(EvolutionState& state, IterationRecord& record) const;

  MethodConfig method_;
  EvolutionConfig config_;
  Trainee& trainee_;
  LayerBudget budget_;
  EvolutionState state_;
  std::vector<std::int64_t> kept_weights_;
  std::vector<Migration> moved_;  // of all masks of the step under way
};

}  // namespace winnow
