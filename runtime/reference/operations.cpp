#include "runtime/reference/operations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/base/error.h"
#include "runtime/model/pool_axis.h"

namespace winnow::reference {
namespace {

void require(bool holds, const char* op, const Array& input, const char* expected) {
  if (!holds) {
    fail(ErrorCode::usage, op, ": input ", to_string(input.shape), ", expected ", expected);
  }
}

void require_count(const char* what, std::size_t found, std::int64_t expected) {
  if (found != static_cast<std::size_t>(expected)) {
    fail(ErrorCode::usage, what, " has ", found, " values, expected ", expected);
  }
}

Array zeros(Shape shape) {
  Array array;
  array.values.assign(static_cast<std::size_t>(element_count(shape)), 0.0f);
  array.shape = std::move(shape);
  return array;
}

// Sizes of the two spatial dimensions; rank 1 counts as one row.
struct Plane {
  std::int64_t h = 1;
  std::int64_t w = 1;
};

Plane plane_of(const Shape& shape, int rank) {
  return rank == 2 ? Plane{shape[2], shape[3]} : Plane{1, shape[2]};
}

std::int64_t output_size(std::int64_t size, std::int64_t padding, std::int64_t reach,
                         std::int64_t stride) {
  if (size + 2 * padding < reach) fail(ErrorCode::usage, "kernel of ", reach, " exceeds ", size);
  return (size + 2 * padding - reach) / stride + 1;
}

Shape with_plane(std::int64_t n, std::int64_t c, Plane plane, int rank) {
  return rank == 2 ? Shape{n, c, plane.h, plane.w} : Shape{n, c, plane.w};
}

// One output of a convolution: the sum over the window at (y, x), which may reach into the padding.
double window_sum(const Conv& op, const float* input, Plane in, const float* weight,
                  std::array<std::int64_t, 2> corner) {
  double sum = 0;
  const std::int64_t channels = op.in_channels / op.groups;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t r = 0; r < op.kernel[0]; ++r) {
      for (std::int64_t s = 0; s < op.kernel[1]; ++s) {
        const std::int64_t y = corner[0] + r * op.dilation[0];
        const std::int64_t x = corner[1] + s * op.dilation[1];
        if (y < 0 || y >= in.h || x < 0 || x >= in.w) continue;
        const double w = weight[(c * op.kernel[0] + r) * op.kernel[1] + s];
        sum += w * input[(c * in.h + y) * in.w + x];
      }
    }
  }
  return sum;
}

Plane conv_output(const Conv& op, Plane in) {
  return {output_size(in.h, op.padding[0], op.dilation[0] * (op.kernel[0] - 1) + 1, op.stride[0]),
          output_size(in.w, op.padding[1], op.dilation[1] * (op.kernel[1] - 1) + 1, op.stride[1])};
}

// What wins a maximum: the larger number, or what is not a number.
float winner(float a, float b) {
  return b > a || std::isnan(b) ? b : a;
}

float pooled(const Pool& op, const float* input, Plane in, std::array<std::int64_t, 2> corner) {
  const Pair end = op.padding_end.value_or(op.padding);
  double sum = 0, counted = 0;
  float best = -std::numeric_limits<float>::infinity();
  for (std::int64_t r = 0; r < op.kernel[0]; ++r) {
    for (std::int64_t s = 0; s < op.kernel[1]; ++s) {
      const std::int64_t y = corner[0] + r, x = corner[1] + s;
      const bool is_inside = y >= 0 && y < in.h && x >= 0 && x < in.w;
      const bool is_padding = !is_inside && y < in.h + end[0] && x < in.w + end[1];
      if (is_inside || (is_padding && op.counts_padding)) counted += 1;
      if (!is_inside) continue;
      sum += input[y * in.w + x];
      best = winner(best, input[y * in.w + x]);
    }
  }
  return op.kind == PoolKind::max ? best : static_cast<float>(sum / counted);
}

}  // namespace

Array conv(const Conv& op, const Array& input, std::span<const float> weight,
           std::span<const float> bias) {
  require(input.shape.size() == static_cast<std::size_t>(op.rank) + 2 &&
              input.shape[1] == op.in_channels,
          "conv", input, "the convolution's rank and channels");
  const std::int64_t group_in = op.in_channels / op.groups, group_out = op.out_channels / op.groups;
  const std::int64_t filter = group_in * op.kernel[0] * op.kernel[1];
  require_count("conv weight", weight.size(), op.out_channels * filter);
  if (!bias.empty()) require_count("conv bias", bias.size(), op.out_channels);

  const Plane in = plane_of(input.shape, op.rank), out = conv_output(op, in);
  Array result = zeros(with_plane(input.shape[0], op.out_channels, out, op.rank));
  float* next = result.values.data();
  for (std::int64_t n = 0; n < input.shape[0]; ++n) {
    for (std::int64_t k = 0; k < op.out_channels; ++k) {
      const std::int64_t first = n * op.in_channels + k / group_out * group_in;
      const float* group = input.values.data() + first * in.h * in.w;
      for (std::int64_t y = 0; y < out.h; ++y) {
        for (std::int64_t x = 0; x < out.w; ++x) {
          const double sum =
              window_sum(op, group, in, weight.data() + k * filter,
                         {y * op.stride[0] - op.padding[0], x * op.stride[1] - op.padding[1]});
          *next++ = static_cast<float>(sum + (bias.empty() ? 0.0 : bias[k]));
        }
      }
    }
  }
  return result;
}

Array linear(const Linear& op, const Array& input, std::span<const float> weight,
             std::span<const float> bias) {
  require(!input.shape.empty() && input.shape.back() == op.in_features, "linear", input,
          "its features last");
  require_count("linear weight", weight.size(), op.in_features * op.out_features);
  if (!bias.empty()) require_count("linear bias", bias.size(), op.out_features);

  Shape shape = input.shape;
  shape.back() = op.out_features;
  Array result = zeros(shape);
  const std::int64_t rows = element_count(shape) / std::max<std::int64_t>(op.out_features, 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < op.out_features; ++k) {
      double sum = bias.empty() ? 0.0 : bias[k];
      for (std::int64_t c = 0; c < op.in_features; ++c) {
        sum += static_cast<double>(weight[k * op.in_features + c]) *
               input.values[row * op.in_features + c];
      }
      result.values[row * op.out_features + k] = static_cast<float>(sum);
    }
  }
  return result;
}

Array pool(const Pool& op, const Array& input) {
  require(input.shape.size() == static_cast<std::size_t>(op.rank) + 2, "pool", input, "its rank");
  const Plane in = plane_of(input.shape, op.rank);
  const Plane out = {pool_axis(op, 0, in.h).positions(), pool_axis(op, 1, in.w).positions()};
  require(out.h > 0 && out.w > 0, "pool", input, "at least the kernel's size with its padding");
  Array result = zeros(with_plane(input.shape[0], input.shape[1], out, op.rank));
  float* next = result.values.data();
  for (std::int64_t plane = 0; plane < input.shape[0] * input.shape[1]; ++plane) {
    for (std::int64_t y = 0; y < out.h; ++y) {
      for (std::int64_t x = 0; x < out.w; ++x) {
        *next++ = pooled(op, input.values.data() + plane * in.h * in.w, in,
                         {y * op.stride[0] - op.padding[0], x * op.stride[1] - op.padding[1]});
      }
    }
  }
  return result;
}

Array global_pool(const GlobalPool& op, const Array& input) {
  require(input.shape.size() >= 3, "global pool", input, "[N, C, ...]");
  Array result = zeros({input.shape[0], input.shape[1]});
  if (result.values.empty()) return result;
  const std::size_t size = input.values.size() / result.values.size();
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const std::span plane = std::span(input.values).subspan(i * size, size);
    double sum = 0;
    for (const float value : plane) sum += value;
    result.values[i] = op.kind == PoolKind::max
                           ? std::accumulate(plane.begin(), plane.end(), plane[0], winner)
                           : static_cast<float>(sum / static_cast<double>(size));
  }
  return result;
}

Array add(std::span<const Array* const> inputs) {
  if (inputs.empty()) fail(ErrorCode::usage, "add: no inputs");
  Array result = zeros(inputs[0]->shape);
  for (const Array* input : inputs) {
    require(input->shape == result.shape, "add", *input, "the other inputs' shape");
  }
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    double sum = 0;
    for (const Array* input : inputs) sum += input->values[i];
    result.values[i] = static_cast<float>(sum);
  }
  return result;
}

Array concat(std::span<const Array* const> inputs) {
  if (inputs.empty()) fail(ErrorCode::usage, "concat: no inputs");
  Shape shape = inputs[0]->shape;
  shape.at(1) = 0;
  for (const Array* input : inputs) {
    Shape rest = input->shape;
    require(rest.size() == shape.size(), "concat", *input, "the other inputs' rank");
    shape[1] += rest[1];
    rest[1] = shape[1];
    require(rest == shape, "concat", *input, "the other inputs' shape but for the channels");
  }
  Array result;
  result.shape = shape;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    for (const Array* input : inputs) {
      const auto size = static_cast<std::int64_t>(input->values.size()) / shape[0];
      const auto begin = input->values.begin() + n * size;
      result.values.insert(result.values.end(), begin, begin + size);
    }
  }
  return result;
}

Array flatten(const Array& input) {
  require(!input.shape.empty(), "flatten", input, "a batch");
  std::int64_t size = 1;
  for (std::size_t i = 1; i < input.shape.size(); ++i) size *= input.shape[i];
  return {{input.shape[0], size}, input.values};
}

Array embedding(const Embedding& op, const Array& input, std::span<const float> table) {
  require(input.shape.size() == 2, "embedding", input, "[N, L]");
  require_count("embedding table", table.size(), op.rows * op.width);
  const std::int64_t length = input.shape[1];
  Array result = zeros({input.shape[0], op.width, length});
  for (std::int64_t n = 0; n < input.shape[0]; ++n) {
    for (std::int64_t i = 0; i < length; ++i) {
      const float token = input.values[n * length + i];
      if (!(token >= 0 && token < static_cast<float>(op.rows))) {
        fail(ErrorCode::usage, "embedding: sample ", n, ", position ", i, ": token ", token,
             ", expected 0 to ", op.rows - 1);
      }
      for (std::int64_t c = 0; c < op.width; ++c) {
        const float value = table[static_cast<std::int64_t>(token) * op.width + c];
        result.values[(n * op.width + c) * length + i] = value;
      }
    }
  }
  return result;
}

Array softmax(const Array& input) {
  require(!input.shape.empty(), "softmax", input, "at least one dimension");
  Array result = input;
  const auto size = static_cast<std::size_t>(input.shape.back());
  for (std::size_t begin = 0; size > 0 && begin < result.values.size(); begin += size) {
    const std::span row = std::span(result.values).subspan(begin, size);
    const float largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float x : row) sum += std::exp(static_cast<double>(x) - largest);
    for (float& x : row) {
      x = static_cast<float>(std::exp(static_cast<double>(x) - largest) / sum);
    }
  }
  return result;
}

Array relu(const Array& input, const Relu& op) {
  Array result = input;
  for (float& x : result.values) x = x < 0 ? 0.0f : x;
  if (!op.max_value) return result;
  const auto bound = static_cast<float>(*op.max_value);
  for (float& x : result.values) x = x > bound ? bound : x;
  return result;
}

}  // namespace winnow::reference
