// The engine `reference`: the oracle of all others.
#pragma once

#include <memory>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

// Plain loops in fp64 over one image after the other; activations stay in fp64 from the first layer
// to the last. An image that has died is not gone on with. Uses options.threads, each of which has
// images of its own. Reads all layers; the network may go afterwards.
std::unique_ptr<Engine> make_reference_engine(const Network& network, const EngineOptions& options);

}  // namespace winnow::challenge
