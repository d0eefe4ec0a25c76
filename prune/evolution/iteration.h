// One turn of Algorithm 1's loop. Internal to the evolution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/evolution_state.h"
#include "prune/evolution/iteration_record.h"
#include "prune/evolution/layer_budget.h"
#include "prune/evolution/ranking.h"
#include "prune/evolution/schedule.h"

namespace winnow {

class Iteration {
 public:
  // Changes `state`, which has a pool, as it goes: on an exception it is of no more use.
  Iteration(const EvolutionConfig& config, const LayerBudget& budget, Trainee& trainee,
            EvolutionState& state);

  IterationRecord run();

 private:
  void choose();             // lines 3, 4
  void compare();            // plans, before one is trained (offspring.h)
  void train();              // lines 5 to 7, eqs 2 to 4
  void recompute();          // eqs 2 and 3
  void judge();              // line 8
  void accept();             // lines 9, 10
  void reject();             // lines 12, 13
  void mutate_parent();      // line 12
  void cross_two();          // line 12
  void update_statistics();  // lines 15, 16
  void note_progress();      // line 17
  void differentiate();      // line 18
  void finish();

  Solution make_child() const;
  std::vector<double> incremented(const Solution& child) const;
  std::vector<double> deepened(const std::vector<double>& plan, double density) const;
  std::vector<double> willing(const std::vector<double>& sparsities) const;

  const EvolutionConfig& config_;
  const LayerBudget& budget_;
  Trainee& trainee_;
  EvolutionState& state_;
  Schedule schedule_;
  Ranking ranking_;
  Random random_;
  IterationRecord record_;

  std::size_t parent_ = 0;  // index into the pool, as reference_.holder, until the pool changes
  Reference reference_;
  std::vector<double> before_;  // the parent's sparsities
  double accuracy_before_ = 0.0;
  bool masks_fixed_ = false;
  bool progress_ = false;
  std::vector<std::int64_t> kept_weights_;  // [layers] under the last masks
  std::vector<Migration> migrations_;       // of all recomputations, layer by layer
};

}  // namespace winnow
