// Other libraries' ways to run a convolution, as kernels that the benchmarks can time. All but
// cuDNN multiply a matrix of columns that was gathered beforehand, so that their times leave the
// gathering out; none adds a bias or applies a relu.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/bench/layer_setup.h"
#include "runtime/bench/rivals/columns.h"

namespace winnow {

struct RivalProblem {
  ColumnShape shape;
  std::vector<float> weight;  // [K, C, R, S]
};

// Of a convolution with one group, whose bias and relu, if it has some, are left out.
RivalProblem rival_problem(const LayerSetup& setup);

// A matrix of columns that fills itself from the first input that it is given.
class Columns {
 public:
  Columns(const ColumnShape& shape, ColumnOrder order) : shape_(shape), order_(order) {}

  const ColumnShape& shape() const { return shape_; }
  ColumnOrder order() const { return order_; }

  // The columns of `in` as half floats; enqueues their gathering on the first call.
  const void* halves(const ActivationView& in, cudaStream_t stream);
  // Likewise in 8 bits.
  const void* narrow(Narrow type, const ActivationView& in, cudaStream_t stream);

 private:
  std::int64_t count() const { return shape_.pixels() * shape_.columns(); }

  ColumnShape shape_;
  ColumnOrder order_;
  DeviceBuffer<std::byte> halves_, narrow_[2];
};

// How the layer's input lies for columns of that order, and its output: NHWC, half floats.
ActivationFormat rival_input(ColumnOrder order);
ActivationFormat rival_output();

// The gathering alone. Its family is its name: "im2col by pixel, 2 bytes".
std::string gathering_name(ColumnOrder order, int element_bytes);
LayerKernel gathering(const ColumnShape& shape, ColumnOrder order, int element_bytes);

// Each returns kernels of half floats in and out, to be launched once before they are timed: only
// the first launch writes the output where a library has another type or order for it. `gpu` must
// outlive them. Throws Error{device} with one line if the library is missing or refuses the layer.
std::vector<LayerKernel> cublaslt_rivals(const RivalProblem& problem,
                                         const std::shared_ptr<Columns>& by_pixel, GpuContext& gpu);
std::vector<LayerKernel> narrow_rivals(const RivalProblem& problem, Narrow type,
                                       const std::shared_ptr<Columns>& by_pixel, GpuContext& gpu);
std::vector<LayerKernel> cusparse_rivals(const RivalProblem& problem,
                                         const std::shared_ptr<Columns>& columns, GpuContext& gpu);

// `problem` has weights of two_of_four().
std::vector<LayerKernel> cusparselt_rivals(const RivalProblem& problem,
                                           const std::shared_ptr<Columns>& by_pixel,
                                           GpuContext& gpu);

// cuDNN's convolution in int8, with channels last.
std::vector<LayerKernel> cudnn_int8_rivals(const RivalProblem& problem, GpuContext& gpu);

// The unit of an int8 output: four standard deviations of an output on inputs that are uniform from
// -1 to 1 are 127 units.
float int8_scale(const RivalProblem& problem);

// The two largest of every four weights that follow each other in a row of [K, R, S, C], and zeros:
// what sparse tensor cores multiply. `weight` and the result are [K, C, R, S].
std::vector<float> two_of_four(const ColumnShape& shape, const std::vector<float>& weight);

}  // namespace winnow
