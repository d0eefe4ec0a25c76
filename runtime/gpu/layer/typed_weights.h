// Dense weights of a deployed model, as floats and in the precision of a session.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/model/model.h"
#include "runtime/plan/session.h"

namespace winnow {

// The weight of node `name` with its zeros, row-major [channels, cols]. Throws Error{bad_file}.
std::vector<float> dense_weight(const DeployedModel& model, const std::string& name);

// The bias of node `name`, or `channels` zeros where it has none.
std::vector<float> bias_or_zeros(const DeployedModel& model, const std::string& name,
                                 std::int64_t channels);

// Of the weight of node `name`.
std::uint32_t weight_checksum(const DeployedModel& model, const std::string& name);

// The CSR form of node `name`'s weight, or null if it is dense.
const CsrWeight* sparse_weight(const DeployedModel& model, const std::string& name);

// `values` in device memory, rounded to half floats for f16. At least 256 bytes aligned.
DeviceBuffer<std::byte> upload_as(Precision precision, std::span<const float> values);

// [channels, cols / plane, plane] -> [channels, plane, cols / plane]: a convolution's weight with
// its input channels last.
std::vector<float> channels_last(std::span<const float> weight, std::int64_t channels,
                                 std::int64_t plane);

}  // namespace winnow
