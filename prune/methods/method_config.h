// Which method prunes, and the parameters that Algorithm 1 has no use for.
#pragma once

#include <cstdint>
#include <string_view>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/evolution_config.h"

namespace winnow {

enum class Method {
  evolutionary,  // Algorithm 1 of paper 003
  magnitude,     // gradual magnitude pruning (magnitude.h)
  lottery,       // iterative magnitude pruning with rewound weights (lottery.h)
  fssl,          // fine-tuned structured sparsity learning, paper 001 (fssl.h)
};

struct MethodConfig {
  Method method = Method::evolutionary;
  Allocation allocation = Allocation::global;  // magnitude, lottery
  std::int64_t rounds = 5;                     // lottery: trainings, the first one dense
  std::int64_t rewind_to = 1;                  // lottery: iterations of the first round
  double group_strength = 1e-4;                // fssl: of the group lasso
  double time_strength = 0.0;                  // fssl: of the predicted processing time
  double between_channels = 0.5;               // fssl: share of the penalised iterations
};

std::string_view to_string(Method method);

// How often the learning rate's schedule runs: once, or once a round.
std::int64_t schedules(const MethodConfig& config);

// Throws Error{usage} with the key's name if a value does not fit `evolution`.
void check_config(const MethodConfig& config, const EvolutionConfig& evolution);

}  // namespace winnow
