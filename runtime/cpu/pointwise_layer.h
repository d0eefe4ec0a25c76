// Everything but convolutions and linear layers: pooling, addition, concatenation, softmax,
// embedding.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/cpu/layer.h"
#include "runtime/plan/program.h"

namespace winnow {

// What a step other than conv and linear reads and writes.
struct PointwiseStep {
  Op op;
  bool has_relu = false;
  std::vector<Extents> inputs;
  Extents output;
  std::int64_t last_dimension = 1;  // of the first input's shape
  std::span<const float> table;     // an embedding's weight
};

// The layout that such a step runs in if its first input lies in `offered`: that one where the
// step can, else nchw.
Layout pointwise_layout(const PointwiseStep& step, const Layout& offered);

// Reads every input in `layout`, which pointwise_layout gave, and writes simplest(layout, output).
// Throws Error{bad_file} for an op that no deployed model has.
std::unique_ptr<CpuLayer> make_pointwise_layer(const PointwiseStep& step, const Layout& layout);

}  // namespace winnow
