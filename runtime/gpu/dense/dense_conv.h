// The layouts in which cuDNN may run a convolution of a program, alone or with the addition that
// reads it.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/gpu/dense/cudnn_conv.h"

namespace winnow {

// How what a convolution reads and writes may lie.
struct ConvFormats {
  ActivationFormat in, out;
};
std::vector<ConvFormats> conv_formats(const SessionOptions& options, const Conv& conv);

struct DenseConv {
  CudnnProblem problem;
  std::size_t reads = 0;   // index into the step's input formats
  std::size_t writes = 0;  // index into its output formats
};

// Those whose formats the step's values may have.
std::vector<DenseConv> dense_convs(const LayerProblem& problem, const Conv& conv);

// An addition whose launch computes the convolution of one input too, whose value is deferred.
struct DenseSum {
  CudnnProblem problem;
  const Step* conv_step = nullptr;  // of the problem's program
  std::vector<std::size_t> reads;   // index into the formats of each input
  std::size_t writes = 0;           // index into the output formats
};

// A convolution left to the addition that reads it: what it writes tells how that lies which it
// reads (ActivationFormat::tells_source).
struct DeferredConv {
  std::size_t reads = 0;  // as of DenseConv
  std::size_t writes = 0;
};

// One for each way in which what is convolved may lie; none where no addition may compute it.
std::vector<DeferredConv> deferred_convs(const LayerProblem& problem, const Conv& conv);

// Of each input of the addition `problem` that it may compute, those whose formats the values may
// have: what is added and the sum lie as the convolution would write.
std::vector<DenseSum> dense_sums(const LayerProblem& problem);

// cuDNN's kernels of `problem`, with names that tell of padding.
std::vector<NamedLayer> named_layers(const CudnnProblem& problem, std::vector<NamedLayer> layers);

}  // namespace winnow
