// What training a proposal gave (lines 5 to 7). Internal to the evolution.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "prune/evolution/population/offspring.h"
#include "prune/evolution/proposal.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

struct Trial {
  std::vector<Offspring> offspring;  // plans that were compared; empty: none were
  std::size_t chosen = 0;            // index into them
  std::vector<double> sparsities;    // trained under
  double loss = 0.0;
  double accuracy = 0.0;
  bool is_finite = true;                   // loss, accuracy, weights and statistics
  std::vector<std::int64_t> kept_weights;  // [layers] under the last masks
  std::vector<Migration> migrations;       // of all recomputations, layer by layer
  std::shared_ptr<const Snapshot> snapshot;
};

// Compares plans, if there are several, and trains one. Depends on the proposal alone, so that
// whoever computes it gets the same.
Trial try_out(const Proposal& proposal, const EvolutionConfig& config, const LayerBudget& budget,
              Trainee& trainee);

}  // namespace winnow
