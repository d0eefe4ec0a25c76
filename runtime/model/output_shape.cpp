#include "runtime/model/output_shape.h"

#include <algorithm>
#include <utility>

#include "runtime/model/pool_axis.h"

namespace winnow {
namespace {

// More than any machine holds; sizes in bytes of a few such values still fit 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

std::string given(const Source& source) {
  return in_quotes(source.name) + " gives " + to_string(source.shape);
}

// What slides along one spatial dimension.
struct Window {
  std::int64_t extent;     // of the window
  std::int64_t padded;     // elements, padding included
  std::int64_t positions;  // below 1 if it does not fit
};

Window conv_window(const Conv& op, std::size_t d, std::int64_t size) {
  const std::int64_t extent = (op.kernel[d] - 1) * op.dilation[d] + 1;
  const std::int64_t padded = size + 2 * op.padding[d];
  return {extent, padded, padded < extent ? 0 : (padded - extent) / op.stride[d] + 1};
}

Window pool_window(const Pool& op, std::size_t d, std::int64_t size) {
  const PoolAxis axis = pool_axis(op, d, size);
  return {axis.kernel, size + axis.begin + axis.end, axis.positions()};
}

// The output shape of one node, given its inputs. Settings are in range.
class OutputShape {
 public:
  OutputShape(const NodePlace& place, const std::vector<Source>& inputs)
      : place_(place), inputs_(inputs) {}

  Shape operator()(const Input&) const { place_.refuse("an input must be the first node"); }

  Shape operator()(const Conv& op) const {
    require_positions(op.rank);
    require_channels(op.in_channels, "input channels");
    const std::int64_t groups = op.groups;
    if (op.in_channels % groups != 0 || op.out_channels % groups != 0) {
      place_.refuse(groups, " groups do not divide ", op.in_channels, " input and ",
                    op.out_channels, " output channels");
    }
    place_.require_size({op.out_channels, op.in_channels / groups, op.kernel[0], op.kernel[1]},
                        "weight");
    return slide(op.rank, op.out_channels,
                 [&op](std::size_t d, std::int64_t size) { return conv_window(op, d, size); });
  }

  Shape operator()(const Linear& op) const {
    require_rank(2, "[N, F]; put a flatten before it");
    require_channels(op.in_features, "input features");
    place_.require_size({op.out_features, op.in_features}, "weight");
    return {shape()[0], op.out_features};
  }

  Shape operator()(const BatchNorm& op) const {
    require_channels(op.channels, "channels");
    return shape();
  }

  Shape operator()(const Relu&) const { return shape(); }
  Shape operator()(const Dropout&) const { return shape(); }
  Shape operator()(const Softmax&) const { return shape(); }

  Shape operator()(const Pool& op) const {
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t padding = std::max(op.padding[d], op.padding_end.value_or(op.padding)[d]);
      if (padding < op.kernel[d]) continue;
      place_.refuse("padding ", padding, " is not less than the kernel's ", op.kernel[d]);
    }
    require_positions(op.rank);
    return slide(op.rank, shape()[1],
                 [&op](std::size_t d, std::int64_t size) { return pool_window(op, d, size); });
  }

  Shape operator()(const GlobalPool&) const {
    if (shape().size() < 3) place_.refuse("expects positions to pool over, ", given(inputs_[0]));
    return {shape()[0], shape()[1]};
  }

  Shape operator()(const Add&) const {
    for (const Source& other : inputs_) {
      if (other.shape == shape()) continue;
      place_.refuse("expects equal shapes, ", given(inputs_[0]), ", ", given(other));
    }
    return shape();
  }

  Shape operator()(const Concat&) const {
    Shape joined = shape();
    joined[1] = 0;
    for (const Source& other : inputs_) {
      Shape rest = other.shape;
      const std::int64_t channels = std::exchange(rest.at(1), joined[1]);
      if (rest != joined) {
        place_.refuse("expects shapes that differ in channels only, ", given(inputs_[0]), ", ",
                      given(other));
      }
      joined[1] += channels;  // each is at most kMostElements, so is their number
    }
    return joined;
  }

  Shape operator()(const Flatten&) const {
    return {shape()[0], element_count(Shape(shape().begin() + 1, shape().end()))};
  }

  Shape operator()(const Embedding& op) const {
    if (!inputs_[0].is_tokens) {
      place_.refuse("expects token numbers, ", in_quotes(inputs_[0].name), " gives real numbers");
    }
    place_.require_size({op.rows, op.width}, "weight");
    return {shape()[0], op.width, shape()[1]};
  }

 private:
  const Shape& shape() const { return inputs_[0].shape; }

  void require_rank(std::size_t rank, const char* form) const {
    if (shape().size() != rank) place_.refuse("expects ", form, "; ", given(inputs_[0]));
  }

  void require_positions(int rank) const {
    require_rank(static_cast<std::size_t>(rank) + 2, rank == 2 ? "[N, C, H, W]" : "[N, C, L]");
  }

  void require_channels(std::int64_t expected, const char* what) const {
    if (shape()[1] == expected) return;
    place_.refuse("expects ", expected, " ", what, ", ", in_quotes(inputs_[0].name), " gives ",
                  shape()[1]);
  }

  // [N, channels, ...] with one size per spatial dimension. `window_at(d, size)`: d 0 vertical, 1
  // not.
  template <typename WindowAt>
  Shape slide(int rank, std::int64_t channels, WindowAt window_at) const {
    Shape output = {shape()[0], channels};
    Shape padded = {shape()[0], shape()[1]};
    for (std::size_t i = 2; i < shape().size(); ++i) {
      const Window window = window_at(rank == 2 ? i - 2 : 1, shape()[i]);
      output.push_back(window.positions);
      padded.push_back(window.padded);
      if (output.back() >= 1) continue;
      place_.refuse("its window of ", window.extent, " does not fit into ", padded.back(),
                    " positions, padding included; ", given(inputs_[0]));
    }
    place_.require_size(padded, "padded input");
    return output;
  }

  const NodePlace& place_;
  const std::vector<Source>& inputs_;
};

}  // namespace

void NodePlace::require_size(const Shape& shape, const char* what) const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    const bool overflows = __builtin_mul_overflow(count, size, &count);
    if (overflows || count > kMostElements) refuse(what, " ", to_string(shape), " is too large");
  }
}

Shape output_shape(const Op& op, const std::vector<Source>& inputs, const NodePlace& place) {
  return std::visit(OutputShape(place, inputs), op);
}

}  // namespace winnow
