// Tensors of ONNX files. For the sources of this folder only.
#pragma once

#include <string>

#include "runtime/model/tensor.h"
#include "runtime/onnx/wire_reader.h"

namespace winnow {

struct OnnxTensor {
  std::string name;
  Tensor tensor;
};

// A TensorProto: values as raw bytes or in the field of their type. Refuses data in other files,
// types without a counterpart among DataType, and another number of values than the shape says.
OnnxTensor read_onnx_tensor(WireReader message);

}  // namespace winnow
