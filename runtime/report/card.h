// A model card: what a run made, for people who get the model and nothing else.
#pragma once

#include <string>

#include "runtime/report/run_facts.h"

namespace winnow {

// Markdown: network, data, accuracy, sparsity, size, speed, how it was made (versions, seed,
// commands, configuration). What the folder does not tell is listed as missing. Text from files
// cannot break out of its place.
std::string model_card(const RunFacts& facts);

}  // namespace winnow
