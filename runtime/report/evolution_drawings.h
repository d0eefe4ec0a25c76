// How a network was pruned: what its iterations came to, the population, the layers.
#pragma once

#include <string>

#include "runtime/report/run_facts.h"

namespace winnow {

// Drawings of facts.iterations and facts.population. Nothing where there are none.
std::string evolution_drawings(const RunFacts& facts);

}  // namespace winnow
