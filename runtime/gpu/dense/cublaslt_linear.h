// Dense linear layers with cuBLASLt: the baseline, on the same weights with their zeros.
#pragma once

#include <span>
#include <vector>

#include "runtime/gpu/layer/family.h"

namespace winnow {

struct LinearProblem {
  std::int64_t rows = 0;  // of x and y
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool has_relu = false;
  Precision precision = Precision::f32;
  bool use_tf32 = false;   // f32: kernels that round their inputs to TF32 as well
  bool all_plans = false;  // up to 256 algorithms that the heuristics propose; else 8
};

// The algorithms that cuBLASLt's heuristics propose for y = x W^T + b with bias and relu in its
// epilogue ("cublaslt f16 algo 0"). Sums are fp32; fp32 inputs are not rounded but by the kernels
// that `use_tf32` adds ("cublaslt tf32 algo 0").
//
//   weight  [out, in]    bias  [out]
//
// `gpu` must outlive the layers. Throws Error{device} if cuBLASLt is missing.
std::vector<NamedLayer> cublaslt_layers(const LinearProblem& problem, std::span<const float> weight,
                                        std::span<const float> bias, GpuContext& gpu);

// Why cuBLASLt cannot be used on this GPU; empty if it can.
std::string cublaslt_missing_reason(GpuContext& gpu);

}  // namespace winnow
