#include "tests/cpu/random_work.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "runtime/reference/operations.h"

namespace winnow {
namespace {

template <typename T, std::size_t kCount>
T pick(Random& random, const T (&choices)[kCount]) {
  return choices[random.below(kCount)];
}

constexpr std::int64_t kBatches[] = {1, 2, 7, 8, 16, 33};
constexpr double kDensities[] = {0, 0.02, 0.1, 0.5, 1};
constexpr int kVectors[] = {1, 8, 16, 32};

std::vector<float> random_weight(Random& random, std::int64_t channels, std::int64_t cols,
                                 int vector) {
  const double density = pick(random, kDensities);
  std::vector<float> weight(static_cast<std::size_t>(channels * cols));
  for (std::int64_t row = 0; row < channels; row += vector) {
    for (std::int64_t col = 0; col < cols; ++col) {
      if (!random.chance(density)) continue;
      for (std::int64_t k = row; k < std::min(row + vector, channels); ++k) {
        weight[k * cols + col] = static_cast<float>(random.normal());
      }
    }
  }
  return weight;
}

std::string text_of(const RandomWork& work) {
  std::string text = "input " + to_string(work.input) + " vector " + std::to_string(work.vector);
  const auto* conv = std::get_if<Conv>(&work.op);
  if (!conv) return text + " linear to " + std::to_string(work.bias.size());
  std::ostringstream full;
  full << text << " conv to " << conv->out_channels;
  const auto add = [&](const char* name, const Pair& p) {
    full << " " << name << " " << p[0] << "x" << p[1];
  };
  add("kernel", conv->kernel);
  add("stride", conv->stride);
  add("padding", conv->padding);
  add("dilation", conv->dilation);
  full << " groups " << conv->groups;
  return full.str();
}

// A side that is seldom large, and never so large that the work takes long.
std::int64_t random_side(Random& random, std::int64_t largest) {
  return random.chance(0.3) ? random.between(1, largest)
                            : random.between(1, std::min<std::int64_t>(largest, 9));
}

void set_geometry(Conv& op, Random& random, std::array<std::int64_t, 2>& sides) {
  for (int axis = 2 - op.rank; axis < 2; ++axis) {
    op.kernel[axis] = random.between(1, 5);
    op.stride[axis] = random.chance(0.6) ? 1 : random.between(2, 3);
    op.padding[axis] = random.between(0, 3);
    op.dilation[axis] = random.chance(0.7) ? 1 : random.between(2, 3);
    const std::int64_t reach = op.dilation[axis] * (op.kernel[axis] - 1) + 1;
    sides[axis] = std::max(sides[axis], reach - 2 * op.padding[axis]);
  }
}

double product_of(const Conv& op, const std::array<std::int64_t, 2>& sides, std::int64_t batch) {
  const std::int64_t cols = op.in_channels / op.groups * op.kernel[0] * op.kernel[1];
  return static_cast<double>(batch * op.out_channels * sides[0] * sides[1]) *
         static_cast<double>(cols) / static_cast<double>(op.stride[0] * op.stride[1]);
}

void fill(Random& random, const Conv& op, const std::array<std::int64_t, 2>& sides,
          RandomWork& work) {
  work.vector = pick(random, kVectors);
  work.input = {work.batch, op.in_channels, sides[1]};
  if (op.rank == 2) work.input.insert(work.input.begin() + 2, sides[0]);
  const std::int64_t cols = op.in_channels / op.groups * op.kernel[0] * op.kernel[1];
  work.weight = random_weight(random, op.out_channels, cols, work.vector);
  work.op = op;
  work.has_relu = random.chance(0.5);
  for (std::int64_t k = 0; k < op.out_channels; ++k) {
    work.bias.push_back(static_cast<float>(random.normal()));
  }
  work.text = text_of(work);
}

// `smallest` and `largest` count multiply-accumulates.
RandomWork sized_conv(Random& random, double smallest, double largest) {
  for (;;) {
    RandomWork work;
    Conv op;
    op.rank = random.chance(0.25) ? 1 : 2;
    const bool is_grouped = random.chance(0.25);
    op.groups = is_grouped ? random.between(2, 5) : 1;
    op.in_channels = op.groups * random.between(1, is_grouped ? 8 : 70);
    op.out_channels = op.groups * random.between(1, is_grouped ? 17 : 70);
    std::array<std::int64_t, 2> sides = {op.rank == 2 ? random_side(random, 33) : 1,
                                         random_side(random, 33)};
    set_geometry(op, random, sides);
    work.batch = pick(random, kBatches);
    const double product = product_of(op, sides, work.batch);
    if (product < smallest || product > largest) continue;
    fill(random, op, sides, work);
    return work;
  }
}

}  // namespace

RandomWork random_conv(Random& random) {
  return sized_conv(random, 0, 1.5e6);
}

RandomWork random_large_conv(Random& random) {
  return sized_conv(random, 5e6, 1e7);
}

RandomWork random_wide_conv(Random& random) {
  RandomWork work;
  Conv op;
  op.in_channels = random.between(1, 3);
  op.out_channels = random.between(1, 20);
  std::array<std::int64_t, 2> sides = {random.between(1, 4), random.between(1, 250)};
  set_geometry(op, random, sides);
  work.batch = random.between(1, 3);
  fill(random, op, sides, work);
  return work;
}

RandomWork random_near_conv(Random& random) {
  RandomWork work;
  Conv op;
  op.in_channels = random.between(1, 60);
  op.out_channels = random.between(1, 70);
  op.kernel = {random.chance(0.8) ? 3 : 1, 3};
  op.padding = {op.kernel[0] / 2, 1};
  work.batch = random.between(1, 3);
  const std::int64_t width = random.chance(0.5) ? 16 * random.between(1, 4) : random.between(1, 64);
  fill(random, op, {random.between(1, 9), width}, work);
  return work;
}

RandomWork random_linear(Random& random) {
  RandomWork work;
  Linear op{random.between(1, 300), random.between(1, 70), true};
  work.batch = pick(random, kBatches);
  work.vector = pick(random, kVectors);
  work.input = {work.batch, op.in_features};
  work.weight = random_weight(random, op.out_features, op.in_features, work.vector);
  work.op = op;
  work.has_relu = random.chance(0.5);
  for (std::int64_t k = 0; k < op.out_features; ++k) {
    work.bias.push_back(static_cast<float>(random.normal()));
  }
  work.text = text_of(work);
  return work;
}

ConvWork conv_work(const RandomWork& work) {
  ConvWork result;
  if (const auto* conv = std::get_if<Conv>(&work.op)) {
    const reference::Array input{
        work.input, std::vector<float>(static_cast<std::size_t>(element_count(work.input)))};
    result.shape =
        conv_shape(*conv, work.input, reference::conv(*conv, input, work.weight, work.bias).shape);
  } else {
    result.shape = linear_shape(std::get<Linear>(work.op), work.input);
  }
  const auto channels = static_cast<std::int64_t>(work.bias.size());
  result.blocks = block_csr(csr_of(work.weight, channels, work.vector));
  result.bias = work.bias;
  result.has_relu = work.has_relu;
  return result;
}

std::vector<float> random_input(const RandomWork& work, Random& random) {
  std::vector<float> input(static_cast<std::size_t>(element_count(work.input)));
  for (float& x : input) x = static_cast<float>(random.normal());
  return input;
}

Expected expected_of(const RandomWork& work, const std::vector<float>& input) {
  const auto run = [&](bool is_magnitude) {
    const auto absolute = [&](std::vector<float> values) {
      for (float& x : values) x = is_magnitude ? std::abs(x) : x;
      return values;
    };
    const reference::Array array{work.input, absolute(input)};
    const std::vector<float> weight = absolute(work.weight), bias = absolute(work.bias);
    const auto* conv = std::get_if<Conv>(&work.op);
    const reference::Array result =
        conv ? reference::conv(*conv, array, weight, bias)
             : reference::linear(std::get<Linear>(work.op), array, weight, bias);
    return work.has_relu ? reference::relu(result).values : result.values;
  };
  const auto channels = std::max<std::size_t>(work.bias.size(), 1);
  return {run(false), run(true), static_cast<std::int64_t>(work.weight.size() / channels)};
}

std::int64_t first_wrong(const std::vector<float>& found, const Expected& expected, double slack) {
  const double block = slack * static_cast<double>(expected.terms + 4) * 0x1p-24;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double error = std::abs(static_cast<double>(found[i]) - expected.values[i]);
    if (!(error <= block * expected.magnitudes[i])) return static_cast<std::int64_t>(i);
  }
  return -1;
}

CsrWeight csr_of(const std::vector<float>& weight, std::int64_t channels, int vector) {
  const std::int64_t cols = static_cast<std::int64_t>(weight.size()) / channels;
  const std::int64_t rows = (channels + vector - 1) / vector;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * cols));
  for (std::int64_t k = 0; k < channels; ++k) {
    for (std::int64_t col = 0; col < cols; ++col) {
      if (weight[k * cols + col] != 0) mask[k / vector * cols + col] = 1;
    }
  }
  const CsrPattern pattern = build_csr_pattern(mask, channels, cols, vector);
  std::vector<float> values;
  for (const std::int64_t position : dense_positions(pattern)) {
    values.push_back(position < 0 ? 0.0f : weight[position]);
  }
  return csr_weight(pattern, encode_f32(values));
}

}  // namespace winnow
