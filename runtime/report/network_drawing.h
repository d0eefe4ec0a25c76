// The deployed network as a drawing.
#pragma once

#include <string>

#include "runtime/report/run_facts.h"

namespace winnow {

// SVG: nodes from the input down with lines for what they read, and beside each its operation, the
// shape of its output, multiply-adds and the share of its weights that is zero, as a number and as
// a colour. "" if the nodes are not known.
std::string network_drawing(const RunFacts& facts);

}  // namespace winnow
