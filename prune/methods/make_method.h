// Methods by name.
#pragma once

#include <memory>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/ranks/peers.h"
#include "prune/evolution/trainee/trainee.h"
#include "prune/methods/method_config.h"
#include "prune/methods/pruning_method.h"

namespace winnow {

// Trainee and peers must outlive it. `state` is that of a checkpoint, or has no pool: a new run.
// Throws Error{usage} with the key's name if a configuration is out of range, names a layer that
// does not exist or leaves nothing to prune, or if several processes would train one network, and
// Error{bad_file} if the state has other layers.
std::unique_ptr<PruningMethod> make_method(const MethodConfig& method,
                                           const EvolutionConfig& config, Trainee& trainee,
                                           EvolutionState state = {}, Peers& peers = alone());

}  // namespace winnow
