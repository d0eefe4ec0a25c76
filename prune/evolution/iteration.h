// One turn of Algorithm 1's loop, once its proposal is trained. Internal to the evolution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "prune/evolution/planning.h"
#include "prune/evolution/proposal.h"
#include "prune/evolution/schedule.h"
#include "prune/evolution/trial.h"

namespace winnow {

class Iteration {
 public:
  // The proposal's iteration is state.iteration. Changes `state` as it goes.
  Iteration(const EvolutionConfig& config, const LayerBudget& budget, EvolutionState& state,
            Proposal proposal, Trial trial);

  // Line 8: whether the trial is accepted. Changes nothing.
  bool judge();

  // The network that was trained, if another process has it.
  void take(std::shared_ptr<const Snapshot> snapshot) { trial_.snapshot = std::move(snapshot); }
  const std::shared_ptr<const Snapshot>& snapshot() const { return trial_.snapshot; }

  // Lines 9 to 18, after judge(). An accepted trial has its snapshot.
  IterationRecord conclude();

 private:
  void accept();                         // lines 9, 10
  void reject();                         // lines 12, 13
  void mutate_parent(Solution& parent);  // line 12
  void cross_two();                      // line 12
  void update_statistics();              // lines 15, 16
  void note_progress();                  // line 17
  void differentiate();                  // line 18
  void finish();

  bool is_refused_collapse() const;
  Solution* find(std::int64_t id);  // in the pool; null if it has left
  Solution make_child();
  std::vector<double> incremented(const Solution& child) const;

  const EvolutionConfig& config_;
  const LayerBudget& budget_;
  EvolutionState& state_;
  Planner planner_;
  Schedule schedule_;
  Ranking ranking_;
  Random random_;
  Proposal proposal_;
  Trial trial_;
  IterationRecord record_;
  Reference reference_;
  bool progress_ = false;
  bool collapsed_ = false;
};

}  // namespace winnow
