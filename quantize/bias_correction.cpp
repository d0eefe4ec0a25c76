#include "quantize/bias_correction.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/fold_batch_norm.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

using reference::Array;

// The sum of input channel `channel` over the positions that the output's see through one tap.
double tap_sum(const Conv& op, const Array& input, std::int64_t channel, const Pair& tap,
               const Pair& out) {
  const std::int64_t height = op.rank == 2 ? input.shape[2] : 1, width = input.shape.back();
  const float* plane = input.values.data() + channel * height * width;
  double sum = 0;
  for (std::int64_t e = 0; e < out[0]; ++e) {
    const std::int64_t y = e * op.stride[0] - op.padding[0] + tap[0] * op.dilation[0];
    if (y < 0 || y >= height) continue;
    for (std::int64_t f = 0; f < out[1]; ++f) {
      const std::int64_t x = f * op.stride[1] - op.padding[1] + tap[1] * op.dilation[1];
      if (x >= 0 && x < width) sum += plane[y * width + x];
    }
  }
  return sum;
}

// What a filter meets on average over the output's positions: [C, R, S], or [in] of a linear layer.
std::vector<double> mean_window(const Conv& op, const Array& input, const Shape& output) {
  const Pair out = {op.rank == 2 ? output[2] : 1, output.back()};
  const auto positions = static_cast<double>(out[0] * out[1]);
  std::vector<double> window;
  for (std::int64_t c = 0; c < op.in_channels; ++c) {
    for (std::int64_t r = 0; r < op.kernel[0]; ++r) {
      for (std::int64_t s = 0; s < op.kernel[1]; ++s) {
        window.push_back(tap_sum(op, input, c, {r, s}, out) / positions);
      }
    }
  }
  return window;
}

std::vector<double> mean_window(const Linear& op, const Array& input) {
  std::vector<double> window(static_cast<std::size_t>(op.in_features));
  const auto positions = static_cast<double>(input.values.size() / window.size());
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    window[i % window.size()] += input.values[i] / positions;
  }
  return window;
}

std::vector<float> lost_weights(const Model& quantized, const Model& before, const Node& node) {
  std::vector<float> lost = to_floats(weight_of(before, node.name));
  const Tensor left = weight_of(quantized, node.name);
  const auto q = left.values<float>();
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] -= q[i];
  return lost;
}

// Each channel's filter times the part of the window that its group reads.
void add_products(std::span<float> bias, std::span<const float> lost,
                  std::span<const double> window) {
  const std::size_t filter = lost.size() / bias.size();
  const std::size_t groups = window.size() / filter;
  for (std::size_t k = 0; k < bias.size(); ++k) {
    const double* part = window.data() + k * groups / bias.size() * filter;
    double sum = bias[k];
    for (std::size_t i = 0; i < filter; ++i) sum += lost[k * filter + i] * part[i];
    bias[k] = static_cast<float>(sum);
  }
}

}  // namespace

void correct_biases(Model& quantized, const Model& before, const MeanInputs& inputs) {
  const Model folded = fold_batch_norm(before);
  const std::vector<Shape> shapes = infer_shapes(quantized.graph, 1);
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    Node& node = quantized.graph.nodes[n];
    if (!has_prunable_weight(node)) continue;
    const std::vector<float> lost = lost_weights(quantized, folded, node);
    if (std::all_of(lost.begin(), lost.end(), [](float w) { return w == 0; })) continue;
    const auto input = inputs.find(node.name);
    if (input == inputs.end()) fail(ErrorCode::internal, in_quotes(node.name), ": no mean inputs");
    const auto* conv = std::get_if<Conv>(&node.op);
    add_products(bias_of(quantized, node), lost,
                 conv ? mean_window(*conv, input->second, shapes[n])
                      : mean_window(std::get<Linear>(node.op), input->second));
  }
}

}  // namespace winnow
