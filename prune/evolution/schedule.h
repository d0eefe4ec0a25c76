// What the number of an iteration says about the goal: which phase it is, how sparse the population
// should be by now, how much is left to prune.
#pragma once

#include <cstdint>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/population/iteration_record.h"

namespace winnow {

class Schedule {
 public:
  //   initial_density  where the path starts: mean of the first pool
  //   goal_density     where it ends
  Schedule(const EvolutionConfig& config, double initial_density, double goal_density);

  Phase phase(std::int64_t iteration) const;

  // The density that keeps the pace from iteration 0 to the end of phase rise. With d_0 the initial
  // density, d the goal and t the share of the phase that is over: d_0 (d / d_0)^t, or
  // d + (d_0 - d) (1 - t)^3.
  double wanted_density(std::int64_t iteration) const;

  // Some solution must be this sparse, or the iteration is forced to the pace: max_lag behind it,
  // or the goal once phase rise is over and in the last iteration of all. So a run where every step
  // is refused still gets to the goal by steps and has time to recover.
  double allowed_density(std::int64_t iteration) const;
  double forced_density(std::int64_t iteration) const;

  // The density to plan for in iteration `next` when a solution has `density` before it: the next
  // step of a pace from there to the end of phase rise, so failures make later steps larger. The
  // whole gap once phase rise has one iteration left or is over.
  double next_density(std::int64_t next, double density) const;

  // Progress towards phase tune in [0, 1].
  double progress(std::int64_t iteration) const;

 private:
  std::int64_t rise_end_;
  std::int64_t freeze_from_;
  std::int64_t last_;
  Pace pace_;
  double max_lag_;
  double initial_density_;
  double goal_density_;
};

}  // namespace winnow
