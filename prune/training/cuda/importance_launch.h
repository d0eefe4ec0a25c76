// Launcher of the kernels for the importances of many layers, by chunks (chunks.h). It knows no
// LibTorch. All pointers are device memory.
#pragma once

#include "prune/training/cuda/chunks.h"
#include "prune/training/cuda/launch_error.h"

namespace winnow {

// Weights are rows, one an output channel, of `taps` times `channels` values: with channels last
// those of one tap lie together. Row-major weights have one tap.
struct ImportanceLayer {
  const float* weight = nullptr;
  const float* gradient = nullptr;  // laid out as the weight; null counts as 0
  float* importance = nullptr;      // [blocks], written row-major
  unsigned rows = 0, taps = 0, channels = 0;
  unsigned vector = 0;  // rows of a block; the last blocks may have fewer
  unsigned blocks = 0;
  unsigned chunks = 0;       // chunks_of() its weights
  unsigned first_chunk = 0;  // chunks of the layers before
  double alpha = 0.0;        // 0: mean |w| of each block, and the gradient is null
};

// Of absolute values; `kept` counts weights that are not 0, and `kept_gradients` are theirs.
struct ImportanceSums {
  double weights, kept, gradients, kept_gradients;
};

struct ImportanceCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  unsigned chunks = 0;  // of all layers, at least 1
  const ImportanceLayer* layers = nullptr;
  const unsigned* layer_of_chunk = nullptr;  // [chunks]
  ImportanceSums* sums = nullptr;            // [chunks], of any content; null if all alphas are 0
};

// Returns a CUDA error's text, or null.
const char* launch_importances(const ImportanceCall& call);

}  // namespace winnow
