// A measurement as part of a JSON line.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "runtime/bench/layer_bench.h"

namespace winnow {

// `line` with the fields of `row`, the fastest of `kernels` that were timed.
nlohmann::ordered_json measured_line(nlohmann::ordered_json line, const LayerBenchRow& row,
                                     std::size_t kernels);

}  // namespace winnow
