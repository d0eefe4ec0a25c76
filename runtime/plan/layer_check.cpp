#include "runtime/plan/layer_check.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "runtime/base/half.h"
#include "runtime/base/noise.h"
#include "runtime/base/number_text.h"
#include "runtime/base/random.h"
#include "runtime/plan/step_weights.h"

namespace winnow {
namespace {

constexpr std::int64_t kFewestSamples = 1024, kMostSamples = 4096;
constexpr double kSumUnit = 4 * 0x1p-24;
constexpr double kSmallestChannel = 1.0 / 64;  // of the largest
constexpr double kSmallestHalf = 0x1p-10;
constexpr double kLargestComparable = 65000;  // in fp16: rounding makes infinity of little more

// `count` places of 0 .. size - 1, all of them if there are no more than `count`, in random order.
std::vector<std::int64_t> spread(std::int64_t size, std::int64_t count, Random& random) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(i * size / count);
  if (size < count) {
    for (std::int64_t i = 0; i < count; ++i) places[static_cast<std::size_t>(i)] = i % size;
  }
  shuffle(places, random);
  return places;
}

BlockCsr blocks_of(const StepWeights& weights, std::int64_t channels) {
  if (weights.sparse()) return block_csr(*weights.sparse());
  return block_csr(dense_floats(weights.weight), channels, 1);
}

}  // namespace

double rounding_tolerance(bool is_rounded) {
  return is_rounded ? 2e-3 : 1e-5;
}

LayerCheck::LayerCheck(const DeployedModel& model, const Program& program, const Step& step,
                       Precision precision, bool use_tf32, const Step* sum)
    : precision_(precision),
      has_relu_(sum == nullptr ? step.has_relu : sum->has_relu),
      adds_(sum != nullptr) {
  const Shape& input = program.values[step.inputs[0]].shape;
  if (const auto* conv = std::get_if<Conv>(&step.op)) {
    in_ = extents_of(input);
    out_ = extents_of(program.values[step.output].shape);
    for (const int axis : {0, 1}) {
      if (axis == 0 && conv->rank == 1) continue;
      window_.kernel[axis] = conv->kernel[axis];
      window_.stride[axis] = conv->stride[axis];
      window_.padding[axis] = conv->padding[axis];
      window_.dilation[axis] = conv->dilation[axis];
    }
    window_.groups = conv->groups;
  } else {
    const auto& linear = std::get<Linear>(step.op);
    const std::int64_t rows = element_count(input) / std::max<std::int64_t>(linear.in_features, 1);
    in_ = {rows, linear.in_features, 1, 1};
    out_ = {rows, linear.out_features, 1, 1};
  }
  const StepWeights weights = weights_of(model, step);
  weight_ = blocks_of(weights, out_.c);
  bias_ = dense_floats(weights.bias);
  bias_.resize(static_cast<std::size_t>(out_.c));
  tolerance_ = rounding_tolerance(precision == Precision::f16 || use_tf32);
  choose_positions();
  compute();
}

// A random sample would miss one row of a hundred now and then; this one has each.
void LayerCheck::choose_positions() {
  const std::int64_t largest = std::max({kFewestSamples, out_.n, out_.c, out_.h, out_.w});
  const std::int64_t count = std::min(largest, kMostSamples);
  if (out_.count() <= count) {
    for (std::int64_t i = 0; i < out_.count(); ++i) positions_.push_back(i);
    return;
  }
  Random random(1);
  const auto n = spread(out_.n, count, random), k = spread(out_.c, count, random);
  const auto y = spread(out_.h, count, random), x = spread(out_.w, count, random);
  for (std::size_t i = 0; i < n.size(); ++i) {
    positions_.push_back(((n[i] * out_.c + k[i]) * out_.h + y[i]) * out_.w + x[i]);
  }
}

void LayerCheck::compute() {
  std::int64_t most_terms = 0;
  for (std::size_t row = 0; row + 1 < weight_.begin.size(); ++row) {
    most_terms = std::max(most_terms, weight_.begin[row + 1] - weight_.begin[row]);
  }
  tolerance_ += kSumUnit * std::sqrt(static_cast<double>(most_terms));
  const std::vector<double> scales = channel_scales();
  for (const std::int64_t position : positions_) {
    const std::int64_t x = position % out_.w, y = position / out_.w % out_.h;
    const std::int64_t k = position / (out_.w * out_.h) % out_.c;
    const std::int64_t n = position / (out_.w * out_.h * out_.c);
    double sum = sum_at(n, k, y, x) + static_cast<double>(bias_[static_cast<std::size_t>(k)]);
    if (adds_) sum += noise_at(position, kAddendSeed);
    expected_.push_back(has_relu_ ? std::max(sum, 0.0) : sum);
    scale_.push_back(scales[static_cast<std::size_t>(k)]);
  }
}

double LayerCheck::sum_at(std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x) const {
  const std::int64_t row = k / weight_.vector, lane = k % weight_.vector;
  const std::int64_t first_channel = k / (out_.c / window_.groups) * (in_.c / window_.groups);
  double sum = 0;
  for (std::int64_t b = weight_.begin[static_cast<std::size_t>(row)];
       b < weight_.begin[static_cast<std::size_t>(row) + 1]; ++b) {
    const std::int64_t column = weight_.column[static_cast<std::size_t>(b)];
    const std::int64_t s = column % window_.kernel[1];
    const std::int64_t r = column / window_.kernel[1] % window_.kernel[0];
    const std::int64_t c = column / (window_.kernel[0] * window_.kernel[1]);
    const std::int64_t in_y = y * window_.stride[0] - window_.padding[0] + r * window_.dilation[0];
    const std::int64_t in_x = x * window_.stride[1] - window_.padding[1] + s * window_.dilation[1];
    if (in_y < 0 || in_y >= in_.h || in_x < 0 || in_x >= in_.w) continue;
    const float weight = weight_.value[static_cast<std::size_t>(b * weight_.vector + lane)];
    sum += static_cast<double>(weight) * input_at(n, first_channel + c, in_y, in_x);
  }
  return sum;
}

double LayerCheck::input_at(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
  return noise_at(((n * in_.c + c) * in_.h + y) * in_.w + x, kSeed);
}

double LayerCheck::noise_at(std::int64_t index, std::uint32_t seed) const {
  const float value = noise_value(static_cast<std::uint32_t>(index), seed);
  return precision_ == Precision::f16 ? to_float(to_half(value)) : value;
}

std::vector<double> LayerCheck::channel_scales() const {
  std::vector<double> scales;
  for (std::int64_t k = 0; k < out_.c; ++k) {
    const auto row = static_cast<std::size_t>(k / weight_.vector);
    double square = 0;
    for (std::int64_t b = weight_.begin[row]; b < weight_.begin[row + 1]; ++b) {
      const std::int64_t at = b * weight_.vector + k % weight_.vector;
      const double weight = weight_.value[static_cast<std::size_t>(at)];
      square += weight * weight;
    }
    const double bias = bias_[static_cast<std::size_t>(k)];
    scales.push_back(std::sqrt((square + (adds_ ? 1 : 0)) / 3 + bias * bias));
  }
  double least = kSmallestChannel * *std::ranges::max_element(scales);
  if (precision_ == Precision::f16) least = std::max(least, kSmallestHalf);
  for (double& scale : scales) scale = least > 0 ? std::max(scale, least) : 1;
  return scales;
}

std::string LayerCheck::defect(std::span<const float> found) const {
  double square = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    const bool fits = precision_ == Precision::f32 || std::abs(expected_[i]) < kLargestComparable;
    if (!fits) continue;
    if (!std::isfinite(found[i])) return "gives numbers that are not finite";
    const double off = (static_cast<double>(found[i]) - expected_[i]) / scale_[i];
    square += off * off;
    ++compared;
  }
  const double error = compared > 0 ? std::sqrt(square / static_cast<double>(compared)) : 0;
  if (error <= tolerance_) return "";
  return "is off by " + scientific(error, 1) + ", at most " + scientific(tolerance_, 1) +
         " are allowed";
}

}  // namespace winnow
