// What gpu_engines.cpp chooses among. Each reads the network and needs `options.gpu` to be current.
#pragma once

#include <memory>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {}  // namespace winnow::challenge
