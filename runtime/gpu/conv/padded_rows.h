// Whether the direct convolution may gain from rows that are padded to one length. Pure host code.
#pragma once

#include <string>

#include "runtime/model/graph.h"
#include "runtime/model/model.h"

namespace winnow {

// Why the family direct_ell leaves out a layer with this weight; empty where it runs it. What it
// can run and would hardly gain from it runs only where it `is_asked` for.
std::string why_not_padded(const Weight& weight, const Conv& conv, bool is_asked);

}  // namespace winnow
