// What some outputs of a layer should be, in fp64.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/bench/layer_setup.h"

namespace winnow {

inline constexpr std::uint32_t kBenchSeed = 99;  // of the noise that is the layer's input

struct SampledOutputs {
  std::vector<std::int64_t> positions;  // indices in row-major order
  std::vector<double> values;
};

// `count` outputs, evenly spread, of the layer's weights on noise_value(i, kBenchSeed), rounded to
// half where the layer's inputs are.
SampledOutputs sample_outputs(const LayerSetup& setup, int count);

// Norm of the differences over the norm of the expected values; 0 for no values.
double relative_error(const std::vector<float>& found, const std::vector<double>& expected);

}  // namespace winnow
