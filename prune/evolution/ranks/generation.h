// Iterations that choose from the same pool and are trained side by side. Internal to the
// evolution.
#pragma once

#include <string>
#include <vector>

#include "prune/evolution/ranks/peers.h"
#include "prune/evolution/trial.h"

namespace winnow {

// Rank i trains proposals i, i + size, ... and tells the others what came of it; the snapshots stay
// with the ranks that have them.
std::vector<Trial> try_out_together(const std::vector<Proposal>& proposals,
                                    const EvolutionConfig& config, const LayerBudget& budget,
                                    Trainee& trainee, Peers& peers);

// The rank that trains proposal `index`.
std::int64_t rank_of(std::size_t index, const Peers& peers);

// Throws Error{internal} with the rank's number if another rank has another state, or other masks.
void require_agreement(const EvolutionState& state, const Trainee& trainee, Peers& peers);

// A trial without its snapshot, as bytes, and back. Throws Error{internal} if they do not fit.
std::string to_bytes(const Trial& trial);
Trial trial_from(const std::string& bytes);

}  // namespace winnow
