// One way to run one step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/thread_pool.h"
#include "runtime/cpu/conv_shape.h"
#include "runtime/cpu/layout.h"
#include "runtime/cpu/micro_kernels.h"
#include "runtime/plan/block_csr.h"

namespace winnow {

// What a layer reads and writes, and its memory besides that.
struct LayerCall {
  std::span<const float* const> inputs;  // each in CpuLayer::input_layout
  float* output = nullptr;               // in CpuLayer::output_layout
  float* scratch = nullptr;              // scratch_floats() floats, 64-byte aligned
};

// Planned for its shapes and a number of threads. run() writes every float of the output,
// lanes beyond the last image or channel included.
class CpuLayer {
 public:
  virtual ~CpuLayer() = default;

  virtual void run(const LayerCall& call, ThreadPool& pool) = 0;
  virtual std::int64_t scratch_floats() const { return 0; }

  std::string family;  // as LayerPlan
  std::string kernel;
  Layout input_layout;
  Layout output_layout;
  int addends = 0;                // inputs besides the first, each as the output
  bool is_deferred = false;       // runs nothing: the step that reads its output computes it too
  bool is_reentrant = true;       // threads may run it at the same time, each with its own call
  bool uses_own_threads = false;  // of a library, which go on spinning after its work
  int slot = 0;                   // its place among the candidates of its step
};

// A convolution or linear layer with its weights: what every family is made from.
struct ConvWork {
  ConvShape shape;
  BlockCsr blocks;
  std::vector<float> bias;  // [K]; zeros where the layer has none
  bool has_relu = false;
};

}  // namespace winnow
