// Biases that take back what quantized weights add to a layer's outputs on average.
#pragma once

#include <map>
#include <string>

#include "runtime/model/model.h"
#include "runtime/reference/operations.h"

namespace winnow {

// Mean over samples of what conv and linear nodes read, by the name of the node, batch dimension 1.
using MeanInputs = std::map<std::string, reference::Array>;

// For weights w that became q:
//
//   bias[k] += mean over output positions of (w - q)[k] * E[x]
//
// (Nagel, van Baalen, Blankevoort and Welling, "Data-free quantization through weight equalization
// and bias correction", 2019, section 4.2: E[y] = E[q x] + E[(w - q) x]; here with the mean of each
// input position, so that padding counts as the zeros that it is.) `inputs` are those of `before`.
// A node without a bias gets one; nodes whose weights did not change stay as they are.
//
//   quantized  what quantize_weights made of `before`
// Throws Error{internal} if the inputs of a node are missing.
void correct_biases(Model& quantized, const Model& before, const MeanInputs& inputs);

}  // namespace winnow
