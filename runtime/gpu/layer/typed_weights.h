// Weights of a deployed model in the precision of a session.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/model/model.h"
#include "runtime/plan/session.h"

namespace winnow {

// The bias, or `channels` zeros for null.
std::vector<float> bias_or_zeros(const Weight* bias, std::int64_t channels);

// `values` in device memory, rounded to half floats for f16. At least 256 bytes aligned.
DeviceBuffer<std::byte> upload_as(Precision precision, std::span<const float> values);

// [channels, cols / plane, plane] -> [channels, plane, cols / plane]: a convolution's weight with
// its input channels last.
std::vector<float> channels_last(std::span<const float> weight, std::int64_t channels,
                                 std::int64_t plane);

}  // namespace winnow
