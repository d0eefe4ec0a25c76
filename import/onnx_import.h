// From an ONNX model to a model of ours.
#pragma once

#include <string>

#include "import/onnx_file.h"
#include "runtime/model/model.h"

namespace winnow {

// `sample` is the shape of one sample; empty: as the file says. Weights stay dense.
// Throws ImportRefused (import_refused.h) with every node that has no counterpart, by name,
// operator and reason; Error{bad_file} for a file that contradicts its format.
Model import_onnx(const OnnxModel& model, const std::string& file, const Shape& sample = {});

}  // namespace winnow
