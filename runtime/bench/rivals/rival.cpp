#include "runtime/bench/rivals/rival.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/gpu/layer/typed_weights.h"

namespace winnow {
namespace {

class GatheringLayer : public PreparedLayer {
 public:
  GatheringLayer(const ColumnShape& shape, ColumnOrder order, int element_bytes)
      : shape_(shape),
        order_(order),
        element_bytes_(element_bytes),
        columns_(static_cast<std::size_t>(shape.pixels() * shape.columns() * element_bytes)) {}

  void launch(std::span<const ActivationView> in, const ActivationView&, const Workspace&,
              cudaStream_t stream) const override {
    gather_columns(shape_, order_, element_bytes_, in[0].data, columns_.get(), stream);
  }

 private:
  ColumnShape shape_;
  ColumnOrder order_;
  int element_bytes_;
  DeviceBuffer<std::byte> columns_;
};

// [K, R, S, C] -> [K, C, R, S]: channels_last() with positions and channels exchanged.
std::vector<float> channels_first(const ColumnShape& shape, const std::vector<float>& weight) {
  return channels_last(weight, shape.conv.out_channels, shape.conv.in_channels);
}

}  // namespace

RivalProblem rival_problem(const LayerSetup& setup) {
  const Conv& conv = setup.conv();
  if (conv.groups != 1) fail(ErrorCode::usage, "a rival: expected a convolution of 1 group");
  return {{conv, setup.input_size(), setup.between_size()},
          dense_floats(setup.problem().weights().weight)};
}

const void* Columns::halves(const ActivationView& in, cudaStream_t stream) {
  if (order_ == ColumnOrder::by_pixel && is_input(shape_)) return in.data;
  if (halves_.bytes() == 0) {
    halves_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(2 * count()));
    gather_columns(shape_, order_, 2, in.data, halves_.get(), stream);
  }
  return halves_.get();
}

const void* Columns::narrow(Narrow type, const ActivationView& in, cudaStream_t stream) {
  DeviceBuffer<std::byte>& buffer = narrow_[static_cast<int>(type)];
  if (buffer.bytes() == 0) {
    const void* from = halves(in, stream);
    buffer = DeviceBuffer<std::byte>(static_cast<std::size_t>(count()));
    narrow_halves(type, from, count(), buffer.get(), stream);
  }
  return buffer.get();
}

ActivationFormat rival_input(ColumnOrder order) {
  const bool is_last = order == ColumnOrder::by_pixel;
  return {.layout = is_last ? Layout::nhwc : Layout::nchw, .precision = Precision::f16};
}

ActivationFormat rival_output() {
  return {.layout = Layout::nhwc, .precision = Precision::f16};
}

std::string gathering_name(ColumnOrder order, int element_bytes) {
  const std::string where = order == ColumnOrder::by_pixel ? " by pixel" : " by column";
  return "im2col" + where + ", " + std::to_string(element_bytes) + " bytes";
}

LayerKernel gathering(const ColumnShape& shape, ColumnOrder order, int element_bytes) {
  const std::string name = gathering_name(order, element_bytes);
  return {.family = name,
          .kernel = name,
          .in = rival_input(order),
          .out = rival_output(),
          .layer = std::make_shared<const GatheringLayer>(shape, order, element_bytes)};
}

float int8_scale(const RivalProblem& problem) {
  constexpr double kMeanSquare = 1.0 / 3;  // of an input
  double squares = 0;
  for (const float value : problem.weight) squares += static_cast<double>(value) * value;
  const auto outs = static_cast<double>(problem.shape.conv.out_channels);
  return static_cast<float>(4 * std::sqrt(kMeanSquare * squares / outs) / 127);
}

std::vector<float> two_of_four(const ColumnShape& shape, const std::vector<float>& weight) {
  const std::int64_t plane = shape.conv.kernel[0] * shape.conv.kernel[1];
  std::vector<float> turned = channels_last(weight, shape.conv.out_channels, plane);
  for (std::size_t first = 0; first + 4 <= turned.size(); first += 4) {
    std::array<std::size_t, 4> order = {first, first + 1, first + 2, first + 3};
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return std::abs(turned[a]) > std::abs(turned[b]);
    });
    turned[order[2]] = turned[order[3]] = 0;
  }
  return channels_first(shape, turned);
}

}  // namespace winnow
