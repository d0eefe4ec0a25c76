#include "runtime/gpu/dense/dense_conv.h"

#include <utility>
#include <variant>

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

// Of the addition, with input `i` computed by its launch; nothing if it may not be.
std::optional<DenseSum> dense_sum(const LayerProblem& problem, std::size_t i) {
  const std::size_t computed = problem.fusions.computed[i];
  if (computed == kNoStep) return std::nullopt;
  const Step& step = problem.program.steps[computed];
  const Precision precision = problem.options.precision;
  const ActivationFormat nhwc{.layout = Layout::nhwc, .precision = precision};
  DenseSum sum{.problem = {.conv = std::get<Conv>(step.op),
                           .has_relu = problem.step.has_relu,
                           .adds = true,
                           .conv_input = i,
                           .in = extents_of(problem.program.values[step.inputs[0]].shape),
                           .out = problem.output_size(),
                           .layout = Layout::nhwc,
                           .precision = precision,
                           .use_tf32 = problem.options.use_tf32,
                           .all_plans = problem.options.all_plans},
               .conv_step = &step,
               .reads = {},
               .writes = format_index(problem.output_formats, nhwc)};
  bool may_read = sum.writes < problem.output_formats.size();
  for (std::size_t input = 0; input < problem.input_formats.size(); ++input) {
    const auto& formats = problem.input_formats[input];
    sum.reads.push_back(format_index(formats, input == i ? deferred_nhwc(precision) : nhwc));
    may_read = may_read && sum.reads.back() < formats.size();
  }
  return may_read ? std::optional(sum) : std::nullopt;
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

std::optional<DeferredConv> deferred_conv(const LayerProblem& problem) {
  const Precision precision = problem.options.precision;
  const ActivationFormat nhwc{.layout = Layout::nhwc, .precision = precision};
  const std::size_t reads = format_index(problem.input_formats[0], nhwc);
  const std::size_t writes = format_index(problem.output_formats, deferred_nhwc(precision));
  if (reads == problem.input_formats[0].size() || writes == problem.output_formats.size()) {
    return std::nullopt;
  }
  return DeferredConv{reads, writes};
}

std::vector<DenseSum> dense_sums(const LayerProblem& problem) {
  std::vector<DenseSum> sums;
  if (!std::holds_alternative<Add>(problem.step.op)) return sums;
  for (std::size_t i = 0; i < problem.fusions.computed.size(); ++i) {
    if (auto sum = dense_sum(problem, i)) sums.push_back(std::move(*sum));
  }
  return sums;
}

std::vector<NamedLayer> named_layers(const DenseConv& dense, std::vector<NamedLayer> layers) {
  if (dense.problem.in_padding == 0 && dense.problem.out_padding == 0) return layers;
  for (NamedLayer& layer : layers) layer.name += " padded";
  return layers;
}

}  // namespace winnow
