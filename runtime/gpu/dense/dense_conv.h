// The layouts in which cuDNN may run a convolution of a program, alone or with the addition that
// reads it.
#pragma once

#include <cstddef>
#include <optional>
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

// A convolution whose value is deferred, and the addition whose launch computes both: in nhwc.
struct DenseSum {
  CudnnProblem problem;
  const Step* conv_step = nullptr;  // of the problem's program
  std::vector<std::size_t> reads;   // index into the formats of each input
  std::size_t writes = 0;           // index into the output formats
};

// A convolution left to the addition that reads it: it reads nhwc and writes a deferred value.
struct DeferredConv {
  std::size_t reads = 0;  // as of DenseConv
  std::size_t writes = 0;
};

// Nothing where no addition may compute the convolution `problem`.
std::optional<DeferredConv> deferred_conv(const LayerProblem& problem);

// The inputs of the addition `problem` that it may compute.
std::vector<DenseSum> dense_sums(const LayerProblem& problem);

// cuDNN's kernels of `dense`, with names that tell of padding.
std::vector<NamedLayer> named_layers(const DenseConv& dense, std::vector<NamedLayer> layers);

}  // namespace winnow
