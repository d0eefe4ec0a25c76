// Whether a kernel computes a convolution or linear layer rightly, asked before it is timed: a
// library's kernel that was two percent off has once been the fastest.
//
// What is trusted is the layer's definition (paper 003, eq 1) in plain loops with sums in double,
// on the weights of the model and, in f16, on inputs rounded as the kernel's are. It is evaluated
// for a sample of outputs that reaches every image, channel, row and column (of up to 4096 each):
// whole layers would take longer to compute so than all kernels take to be timed.
//
// The measure is the root mean square, over the sample, of the difference in parts of what is usual
// for the channel: sqrt(|w|^2 / 3 + b^2), because inputs are uniform in [-1, 1), and so is what a
// sum adds: 1 / 3 more under the root. Channels whose weights are much smaller than others' count
// as 1/64 of the largest, and in f16 as 2^-10, below which half floats lose bits.
//
// What is allowed (`rounding_tolerance`, and from the sums with n terms 4 sqrt(n) 2^-24):
//   f32        1e-5: roundings of inputs, weights and output to 2^-24, which the transforms of
//              Winograd kernels amplify
//   f16, TF32  2e-3: inputs, weights and outputs are rounded to 2^-11, three roundings that add up
//              to less than 2^-10 in the mean, and twice that for transforms. Sums in half floats
//              do not pass: at a thousand terms they are off by a percent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/block_csr.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/program.h"
#include "runtime/plan/session.h"

namespace winnow {

// What a layer may differ from the reference by: norm of the difference over norm of the output.
// `is_rounded`: its inputs are rounded to half floats or TF32.
double rounding_tolerance(bool is_rounded);

class LayerCheck {
 public:
  // Inputs are noise_value(i, kSeed) of noise.h for the i-th value in row-major order [N, C, H, W].
  static constexpr std::uint32_t kSeed = 2024;
  // Likewise of what is added, by the places of the outputs.
  static constexpr std::uint32_t kAddendSeed = 2025;

  // Requires a convolution or linear layer (is_weighted). With `sum`, the addition that reads the
  // layer, the sum is checked in the layer's place: with the sum's relu, and no relu of the layer.
  LayerCheck(const DeployedModel& model, const Program& program, const Step& step,
             Precision precision, bool use_tf32, const Step* sum = nullptr);

  // The outputs that are compared, as indices in row-major order [N, K, E, F].
  const std::vector<std::int64_t>& positions() const { return positions_; }

  // Why a kernel that gave `found` is wrong, in one line: "is off by 2.1e-02, at most 2.0e-03 are
  // allowed". Empty if it is right.
  //
  //   found  [positions().size()] its outputs there
  std::string defect(std::span<const float> found) const;

 private:
  struct Window {
    std::int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1};
    std::int64_t groups = 1;
  };

  void choose_positions();
  void compute();
  double sum_at(std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x) const;
  double input_at(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const;
  double noise_at(std::int64_t index, std::uint32_t seed) const;
  std::vector<double> channel_scales() const;

  Precision precision_;
  bool has_relu_;
  bool adds_;
  Window window_;
  Extents in_, out_;
  BlockCsr weight_;
  std::vector<float> bias_;  // [K]
  std::vector<std::int64_t> positions_;
  std::vector<double> expected_, scale_;  // by position
  double tolerance_ = 0;
};

}  // namespace winnow
