// The engine `cpu`: fp32 on all cores, with the widest vectors that the machine has.
#pragma once

#include <memory>

#include "runtime/base/isa.h"
#include "runtime/challenge/engine.h"

namespace winnow::challenge {

// Uses options.threads and options.blocks. Reads all layers; the network may go afterwards.
// Throws Error{usage} if an option makes no sense or layers have more than 2^27 - 1 neurons.
std::unique_ptr<Engine> make_cpu_engine(const Network& network, const EngineOptions& options);

// The same with a given instruction set, for tests and measurements. Throws Error{usage} if the
// machine or the build lacks it.
std::unique_ptr<Engine> make_cpu_engine(const Network& network, const EngineOptions& options,
                                        Isa isa);

}  // namespace winnow::challenge
