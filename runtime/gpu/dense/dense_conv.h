// The layouts in which cuDNN may run a convolution of a program.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/gpu/dense/cudnn_conv.h"

namespace winnow {

struct DenseConv {
  CudnnProblem problem;
  std::size_t reads = 0;   // index into the step's input formats
  std::size_t writes = 0;  // index into its output formats
};

// Those whose formats the step's values may have.
std::vector<DenseConv> dense_convs(const LayerProblem& problem, const Conv& conv);

// cuDNN's kernels of `dense`, with names that tell of padding.
std::vector<NamedLayer> named_layers(const DenseConv& dense, std::vector<NamedLayer> layers);

}  // namespace winnow
