// What the two interfaces of cuDNN share.
#pragma once

#include <memory>
#include <vector>

#include "runtime/gpu/dense/cudnn_conv.h"
#include "runtime/gpu/vendor/library_handles.h"

namespace winnow {

// Scratch memory beyond this is not worth it: an algorithm that wants more is left out.
inline constexpr std::size_t kMaxCudnnWorkspace = std::size_t{1} << 30;

inline constexpr cudnnDataType_t data_type(Precision precision) {
  return precision == Precision::f32 ? CUDNN_DATA_FLOAT : CUDNN_DATA_HALF;
}

// The algorithms of the older interface, in exact fp32 or, with `use_tf32`, as TF32 permits.
std::vector<NamedLayer> cudnn_algorithm_layers(const CudnnProblem& problem,
                                               std::shared_ptr<const CudnnParameters> parameters,
                                               GpuContext& gpu);

// The plans of the graph interface; at most `most`. With `use_tf32` those of exact fp32 are among
// them.
std::vector<NamedLayer> cudnn_graph_layers(const CudnnProblem& problem,
                                           std::shared_ptr<const CudnnParameters> parameters,
                                           GpuContext& gpu, std::size_t most);

}  // namespace winnow
