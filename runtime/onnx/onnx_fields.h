// The numbers of ONNX's messages, as ONNX publishes them in onnx.proto: those that we read or
// write. A namespace for each message.
#pragma once

#include <cstdint>

namespace winnow::onnx {

using Field = std::uint32_t;

namespace model {
constexpr Field kIrVersion = 1;
constexpr Field kProducerName = 2;
constexpr Field kProducerVersion = 3;
constexpr Field kGraph = 7;
constexpr Field kOperatorSet = 8;
constexpr Field kMetadata = 14;
}  // namespace model

namespace operator_set {
constexpr Field kDomain = 1;
constexpr Field kVersion = 2;
}  // namespace operator_set

namespace entry {  // of the metadata
constexpr Field kKey = 1;
constexpr Field kValue = 2;
}  // namespace entry

namespace graph {
constexpr Field kNode = 1;
constexpr Field kName = 2;
constexpr Field kInitializer = 5;
constexpr Field kInput = 11;
constexpr Field kOutput = 12;
constexpr Field kSparseInitializer = 15;
}  // namespace graph

namespace node {
constexpr Field kInput = 1;
constexpr Field kOutput = 2;
constexpr Field kName = 3;
constexpr Field kOperator = 4;
constexpr Field kAttribute = 5;
constexpr Field kDomain = 7;
}  // namespace node

namespace attribute {
constexpr Field kName = 1;
constexpr Field kReal = 2;
constexpr Field kInteger = 3;
constexpr Field kText = 4;
constexpr Field kTensor = 5;
constexpr Field kReals = 7;
constexpr Field kIntegers = 8;
constexpr Field kType = 20;

// What kType holds.
constexpr std::int64_t kRealType = 1;
constexpr std::int64_t kIntegerType = 2;
constexpr std::int64_t kTextType = 3;
constexpr std::int64_t kTensorType = 4;
constexpr std::int64_t kRealsType = 6;
constexpr std::int64_t kIntegersType = 7;
}  // namespace attribute

namespace value {  // an input or output of the graph
constexpr Field kName = 1;
constexpr Field kType = 2;
}  // namespace value

namespace type {
constexpr Field kTensor = 1;
}  // namespace type

namespace tensor_type {
constexpr Field kElement = 1;
constexpr Field kShape = 2;
}  // namespace tensor_type

namespace shape {
constexpr Field kDimension = 1;
}  // namespace shape

namespace dimension {
constexpr Field kSize = 1;
constexpr Field kOpenSize = 2;  // a name in place of the size
}  // namespace dimension

namespace tensor {
constexpr Field kDims = 1;
constexpr Field kDataType = 2;
constexpr Field kSegment = 3;
constexpr Field kFloatData = 4;
constexpr Field kInt32Data = 5;
constexpr Field kInt64Data = 7;
constexpr Field kName = 8;
constexpr Field kRawData = 9;
constexpr Field kDoubleData = 10;
constexpr Field kExternalData = 13;
constexpr Field kDataLocation = 14;
}  // namespace tensor

namespace element {  // types of elements
constexpr std::int64_t kFloat = 1;
constexpr std::int64_t kUint8 = 2;
constexpr std::int64_t kInt8 = 3;
constexpr std::int64_t kInt16 = 5;
constexpr std::int64_t kInt32 = 6;
constexpr std::int64_t kInt64 = 7;
constexpr std::int64_t kBool = 9;
constexpr std::int64_t kFloat16 = 10;
constexpr std::int64_t kDouble = 11;
constexpr std::int64_t kBfloat16 = 16;
}  // namespace element

}  // namespace winnow::onnx
