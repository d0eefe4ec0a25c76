// Which kernels could run each layer of the deployed network, and which one does.
#pragma once

#include <string>

#include "runtime/report/run_facts.h"

namespace winnow {

// A table for each batch size that was timed, a row for each layer: multiply-adds of one image with
// and without zeros, kernel families that fit with their times, the one that was picked, and times
// of the batch dense, sparse and chosen. The last row is the network. "" if nothing was timed.
std::string kernel_tables(const RunFacts& facts);

}  // namespace winnow
