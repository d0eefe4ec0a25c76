#include "runtime/bench/sampled_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/half.h"
#include "runtime/base/noise.h"
#include "runtime/gpu/layer/typed_weights.h"

namespace winnow {
namespace {

class Oracle {
 public:
  explicit Oracle(const LayerSetup& setup)
      : conv_(setup.conv()),
        pool_(setup.pool()),
        has_relu_(setup.program().steps[0].has_relu),
        is_half_(setup.precision() == Precision::f16),
        in_(setup.input_size()),
        between_(setup.between_size()),
        weight_(dense_floats(setup.problem().weights().weight)),
        bias_(bias_or_zeros(setup.problem().weights().bias, conv_.out_channels)) {}

  // The output at position (y, x) of channel k of image n.
  double at(std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x) const {
    return pool_ == nullptr ? convolved(n, k, y, x) : pooled(n, k, y, x);
  }

 private:
  double pooled(std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x) const {
    double most = -std::numeric_limits<double>::infinity();
    for (std::int64_t r = 0; r < pool_->kernel[0]; ++r) {
      for (std::int64_t s = 0; s < pool_->kernel[1]; ++s) {
        const std::int64_t from_y = y * pool_->stride[0] - pool_->padding[0] + r;
        const std::int64_t from_x = x * pool_->stride[1] - pool_->padding[1] + s;
        const bool is_inside =
            from_y >= 0 && from_y < between_.h && from_x >= 0 && from_x < between_.w;
        if (is_inside) most = std::max(most, convolved(n, k, from_y, from_x));
      }
    }
    return most;
  }

  double convolved(std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x) const {
    const std::int64_t per_group = conv_.in_channels / conv_.groups;
    const std::int64_t first = k / (conv_.out_channels / conv_.groups) * per_group;
    double sum = bias_[static_cast<std::size_t>(k)];
    for (std::int64_t c = 0; c < per_group; ++c) {
      for (std::int64_t r = 0; r < conv_.kernel[0]; ++r) {
        for (std::int64_t s = 0; s < conv_.kernel[1]; ++s) {
          const std::int64_t w = ((k * per_group + c) * conv_.kernel[0] + r) * conv_.kernel[1] + s;
          const float weight = weight_[static_cast<std::size_t>(w)];
          if (weight == 0) continue;
          sum += static_cast<double>(weight) *
                 input(n, first + c, y * conv_.stride[0] - conv_.padding[0] + r * conv_.dilation[0],
                       x * conv_.stride[1] - conv_.padding[1] + s * conv_.dilation[1]);
        }
      }
    }
    return has_relu_ ? std::max(sum, 0.0) : sum;
  }

  double input(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    if (y < 0 || y >= in_.h || x < 0 || x >= in_.w) return 0;
    const std::int64_t i = ((n * in_.c + c) * in_.h + y) * in_.w + x;
    const float value = noise_value(static_cast<std::uint32_t>(i), kBenchSeed);
    return is_half_ ? to_float(to_half(value)) : value;
  }

  Conv conv_;
  const Pool* pool_;
  bool has_relu_, is_half_;
  Extents in_, between_;
  std::vector<float> weight_, bias_;
};

}  // namespace

SampledOutputs sample_outputs(const LayerSetup& setup, int count) {
  SampledOutputs samples;
  if (count <= 0) return samples;
  const Oracle oracle(setup);
  const Extents out = setup.output_size();
  const std::int64_t step = std::max<std::int64_t>(1, out.count() / count);
  for (std::int64_t i = step / 2; i < out.count(); i += step) {
    samples.positions.push_back(i);
    samples.values.push_back(oracle.at(i / out.w / out.h / out.c, i / out.w / out.h % out.c,
                                       i / out.w % out.h, i % out.w));
  }
  return samples;
}

double relative_error(const std::vector<float>& found, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = static_cast<double>(found[i]) - expected[i];
    difference += d * d;
    norm += expected[i] * expected[i];
  }
  return expected.empty() ? 0 : std::sqrt(difference / std::max(norm, 1e-300));
}

}  // namespace winnow
