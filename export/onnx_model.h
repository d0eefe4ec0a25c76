// A deployed network as an ONNX model, for other programs that run networks or show them.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/model/model.h"

namespace winnow {

// The set of operators that is written: an old one, which ONNX 1.8, ONNX Runtime 1.6 and TensorRT 8
// know already.
inline constexpr std::int64_t kOnnxOperatorSet = 13;

// Writes `model` atomically: nodes and weights by their names in the graph, weights dense in fp32
// as they are decoded, any number of samples (the dimension "batch"), token numbers as int64. The
// metadata has winnow.version, winnow.classes (a list in JSON), winnow.preprocessing (an object in
// JSON with mean and deviation), and what the model's own metadata has.
// Throws Error{usage} if the file would exceed 2 GiB, which the format cannot have.
void write_onnx(const std::string& path, const DeployedModel& model);

}  // namespace winnow
