// Every operation of a deployed graph in plain loops: the oracle of tests and of `runtime verify`.
//
// Float in and out, sums in double in the order of the formulas. Slow and obvious on purpose.
// All functions throw Error{usage} if shapes do not fit.
#pragma once

#include <span>
#include <vector>

#include "runtime/model/graph.h"
#include "runtime/model/shape.h"

namespace winnow::reference {

// A dense row-major tensor with its shape, batch first.
struct Array {
  Shape shape;
  std::vector<float> values;
};

// Convolution as in paper 003, eq 1, with stride, zero padding, dilation and groups.
//
//   input   [N, C, H, W], or [N, C, L] for rank 1
//   weight  [K, C / groups, R, S]
//   bias    [K], or empty for none
//   returns [N, K, E, F], or [N, K, F]
Array conv(const Conv& op, const Array& input, std::span<const float> weight,
           std::span<const float> bias);

// input [..., in], weight [out, in], bias [out] or empty -> [..., out]
Array linear(const Linear& op, const Array& input, std::span<const float> weight,
             std::span<const float> bias);

// Padding never wins a maximum; an average divides by the positions that pool_axis.h says it
// counts.
Array pool(const Pool& op, const Array& input);

// [N, C, ...] -> [N, C]
Array global_pool(const GlobalPool& op, const Array& input);

Array add(std::span<const Array* const> inputs);
Array concat(std::span<const Array* const> inputs);  // along dimension 1
Array flatten(const Array& input);

// input [N, L] token numbers, table [rows, width] -> [N, width, L].
// Throws Error{usage} for a token outside the table.
Array embedding(const Embedding& op, const Array& input, std::span<const float> table);

Array softmax(const Array& input);  // over the last dimension
// NaN stays NaN.
Array relu(const Array& input, const Relu& op = {});

}  // namespace winnow::reference
