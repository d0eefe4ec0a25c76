// The dense baseline: cuDNN for convolutions, cuBLASLt for linear layers.
#include <variant>

#include "runtime/base/error.h"
#include "runtime/gpu/dense/cublaslt_linear.h"
#include "runtime/gpu/dense/cudnn_conv.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"

namespace winnow {
namespace {

// A linear layer on [.., in] -> [.., out]: all leading dimensions are rows.
LinearProblem linear_problem(const LayerProblem& problem, const Linear& linear) {
  const std::int64_t elements = element_count(problem.program.values[problem.step.inputs[0]].shape);
  return {.rows = linear.in_features > 0 ? elements / linear.in_features : 0,
          .in = linear.in_features,
          .out = linear.out_features,
          .has_relu = problem.step.has_relu,
          .precision = problem.options.precision,
          .use_tf32 = problem.options.use_tf32,
          .all_plans = problem.options.all_plans};
}

void append(std::vector<Candidate>& candidates, std::vector<NamedLayer> layers, std::size_t reads,
            std::size_t writes) {
  for (NamedLayer& layer : layers) {
    candidates.push_back({.family = "dense",
                          .kernel = layer.name,
                          .reads = {reads},
                          .writes = writes,
                          .layer = std::move(layer.layer),
                          .timing_key = layer.name});
  }
}

struct ConvFormats {
  ActivationFormat in, out;
};

// Tensor cores want channels last and in multiples of 8, if need be by channels of zeros; where
// there are few channels the other layouts may do better.
std::vector<ConvFormats> conv_formats(const LayerProblem& problem, const Conv& conv) {
  const Precision precision = problem.options.precision;
  const auto format = [&](Layout layout, std::int64_t channels) {
    const std::int64_t padding = layout == Layout::nhwc ? -channels & 7 : 0;
    return ActivationFormat{
        .layout = layout, .precision = precision, .channel_padding = static_cast<int>(padding)};
  };
  std::vector<ConvFormats> formats;
  const bool is_even = conv.in_channels % 8 == 0 && conv.out_channels % 8 == 0;
  if (has_padded_channels(problem.options) && conv.groups == 1 && !is_even) {
    formats.push_back(
        {format(Layout::nhwc, conv.in_channels), format(Layout::nhwc, conv.out_channels)});
  }
  for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
    formats.push_back({format(layout, 0), format(layout, 0)});
  }
  return formats;
}

void append_conv(std::vector<Candidate>& found, const LayerProblem& problem, const Conv& conv,
                 const ConvFormats& formats, std::span<const float> weight,
                 std::span<const float> bias, GpuContext& gpu) {
  const std::size_t reads = format_index(problem.input_formats[0], formats.in);
  const std::size_t writes = format_index(problem.output_formats, formats.out);
  if (reads == problem.input_formats[0].size() || writes == problem.output_formats.size()) return;
  std::vector<NamedLayer> layers = cudnn_layers({.conv = conv,
                                                 .has_relu = problem.step.has_relu,
                                                 .in = problem.input_size(0),
                                                 .out = problem.output_size(),
                                                 .layout = formats.in.layout,
                                                 .precision = problem.options.precision,
                                                 .in_padding = formats.in.channel_padding,
                                                 .out_padding = formats.out.channel_padding,
                                                 .use_tf32 = problem.options.use_tf32,
                                                 .all_plans = problem.options.all_plans},
                                                weight, bias, gpu);
  if (formats.in.channel_padding > 0 || formats.out.channel_padding > 0) {
    for (NamedLayer& layer : layers) layer.name += " padded";
  }
  append(found, std::move(layers), reads, writes);
}

class DenseFamily : public Family {
 public:
  std::string name() const override { return "dense"; }
  bool is_sparse() const override { return false; }

  std::string why_not(const LayerProblem& problem, GpuContext& gpu) const override {
    if (std::holds_alternative<Conv>(problem.step.op)) return cudnn_missing_reason(gpu);
    if (std::holds_alternative<Linear>(problem.step.op)) return cublaslt_missing_reason(gpu);
    return "runs conv and linear layers only";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const override {
    const StepWeights weights = problem.weights();
    std::vector<Candidate> found;
    if (const auto* conv = std::get_if<Conv>(&problem.step.op)) {
      const std::vector<float> weight = dense_floats(weights.weight);
      const std::vector<float> bias = bias_or_zeros(weights.bias, conv->out_channels);
      for (const ConvFormats& formats : conv_formats(problem, *conv)) {
        append_conv(found, problem, *conv, formats, weight, bias, gpu);
      }
    } else if (const auto* linear = std::get_if<Linear>(&problem.step.op)) {
      const ActivationFormat format = row_major(problem.options.precision);
      append(found,
             cublaslt_layers(linear_problem(problem, *linear), dense_floats(weights.weight),
                             bias_or_zeros(weights.bias, linear->out_features), gpu),
             format_index(problem.input_formats[0], format),
             format_index(problem.output_formats, format));
    }
    return found;
  }
};

}  // namespace

const Family& dense_family() {
  static const DenseFamily family;
  return family;
}

}  // namespace winnow
