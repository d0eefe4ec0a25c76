#include "runtime/gpu/dense/dense_conv.h"

namespace winnow {
namespace {

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

CudnnProblem cudnn_problem(const LayerProblem& problem, const Conv& conv,
                           const ConvFormats& formats) {
  return {.conv = conv,
          .has_relu = problem.step.has_relu,
          .in = problem.input_size(0),
          .out = problem.output_size(),
          .layout = formats.in.layout,
          .precision = problem.options.precision,
          .in_padding = formats.in.channel_padding,
          .out_padding = formats.out.channel_padding,
          .use_tf32 = problem.options.use_tf32,
          .all_plans = problem.options.all_plans};
}

}  // namespace

std::vector<DenseConv> dense_convs(const LayerProblem& problem, const Conv& conv) {
  std::vector<DenseConv> found;
  for (const ConvFormats& formats : conv_formats(problem, conv)) {
    const std::size_t reads = format_index(problem.input_formats[0], formats.in);
    const std::size_t writes = format_index(problem.output_formats, formats.out);
    if (reads == problem.input_formats[0].size() || writes == problem.output_formats.size()) {
      continue;
    }
    found.push_back({cudnn_problem(problem, conv, formats), reads, writes});
  }
  return found;
}

std::vector<NamedLayer> named_layers(const DenseConv& dense, std::vector<NamedLayer> layers) {
  if (dense.problem.in_padding == 0 && dense.problem.out_padding == 0) return layers;
  for (NamedLayer& layer : layers) layer.name += " padded";
  return layers;
}

}  // namespace winnow
