// Times kernels that can run one layer and checks what they compute: what benchmarks print.
//
// A layer's input is noise, resident and in each kernel's own format; conversions are not timed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/bench/layer_setup.h"
#include "runtime/bench/sampled_outputs.h"
#include "runtime/device/sm_clock.h"
#include "runtime/gpu/dense/cudnn_conv.h"

namespace winnow {

struct LayerBenchOptions {
  int launches = 20;              // per CUDA graph at most: fewer where one launch takes long
  int repeats = 9;                // graphs timed
  std::size_t dense_kernels = 4;  // the fastest in a short trial of all, which are timed in full
};

struct LayerBenchRow {
  std::string family;
  std::string kernel;
  int launches = 0;      // per CUDA graph
  double median_ms = 0;  // of one launch
  double spread = 0;     // (slowest - fastest) / median
  double clocks = 0;     // as Candidate
  int clock_mhz = 0;     // of the SMs after the last graph; 0: not known
  double error = 0;      // relative_error() of the sampled outputs
};

// What a measurement needs besides the layer. Members must outlive it.
struct BenchPlace {
  GpuContext& gpu;
  const SmClock& clock;
  LayerBenchOptions options = {};
};

// A layer's memory on the GPU, and measurements of its kernels.
class KernelBench {
 public:
  // `setup` must outlive the timer. Throws Error{device} if memory runs out.
  KernelBench(const LayerSetup& setup, const BenchPlace& place);

  // A full measurement. Throws Error{device} if the kernel is refused or fails.
  LayerBenchRow measure(const LayerKernel& kernel, const SampledOutputs& expected);

  // Launches a kernel several times, and then once within a ProfiledRange.
  void launch_for_profiler(const LayerKernel& kernel);

  // Milliseconds of a launch by a short trial; of what exceeds `give_up_ms` by far, only one.
  double trial(const LayerKernel& kernel, double give_up_ms);

 private:
  struct Views;

  void prepare(const LayerKernel& kernel);
  void launch(const LayerKernel& kernel, const Views& views) const;
  Views views_of(const LayerKernel& kernel) const;
  int launches_for(double estimate_ms) const;

  const LayerSetup& setup_;
  BenchPlace place_;
  ActivationFormat input_format_;  // of what lies in input_
  // The first is f32 in row-major order: noise for the input, and outputs to compare.
  DeviceBuffer<std::byte> row_major_, input_, between_, output_, workspace_;
};

// All kernels of a sparse family, in its order. Throws Error{device} if it cannot run the layer.
std::vector<LayerBenchRow> bench_family(const std::string& family, LayerSetup& setup,
                                        const SampledOutputs& expected, const BenchPlace& place);

// The kernels of cuDNN for a layer, made once and timed on any weights of its shape.
class DenseBench {
 public:
  // Makes all kernels and keeps the fastest of a short trial on the setup's weights. `setup` must
  // outlive it. Throws Error{device} without cuDNN.
  DenseBench(const LayerSetup& setup, const BenchPlace& place);

  // The fastest, full measurement of all that are kept, on the weights of `setup`.
  LayerBenchRow measure(const LayerSetup& setup, const SampledOutputs& expected);

  std::size_t kernels() const { return tried_; }  // that the trial has timed

 private:
  struct Form {
    CudnnProblem problem;
    std::shared_ptr<CudnnParameters> parameters;
  };

  void make_kernels(const LayerSetup& setup);
  void keep_fastest();

  KernelBench timer_;
  BenchPlace place_;
  std::vector<Form> forms_;
  std::vector<LayerKernel> kernels_;
  std::size_t tried_ = 0;
};

}  // namespace winnow
