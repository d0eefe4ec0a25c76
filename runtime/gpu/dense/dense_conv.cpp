#include "runtime/gpu/dense/dense_conv.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace winnow {
namespace {

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

// Of the addition, with the convolution of input `i` in these formats.
DenseSum dense_sum(const LayerProblem& problem, std::size_t i, const ConvFormats& formats) {
  const Step& step = problem.program.steps[problem.fusions.computed[i]];
  DenseSum sum{.problem = cudnn_problem(problem, std::get<Conv>(step.op), formats),
               .conv_step = &step,
               .reads = {},
               .writes = format_index(problem.output_formats, formats.out)};
  sum.problem.adds = true;
  sum.problem.conv_input = i;
  sum.problem.in = extents_of(problem.program.values[step.inputs[0]].shape);
  for (std::size_t input = 0; input < problem.input_formats.size(); ++input) {
    const ActivationFormat& wanted = input == i ? deferred_from(formats.in) : formats.out;
    sum.reads.push_back(format_index(problem.input_formats[input], wanted));
  }
  return sum;
}

// Whether the step's values may have the formats.
bool may_lie(const LayerProblem& problem, const std::vector<std::size_t>& reads,
             std::size_t writes) {
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i] == problem.input_formats[i].size()) return false;
  }
  return writes < problem.output_formats.size();
}

}  // namespace

// Tensor cores want channels last and in multiples of 8, if need be by channels of zeros; where
// there are few channels the other layouts may do better.
std::vector<ConvFormats> conv_formats(const SessionOptions& options, const Conv& conv) {
  const auto format = [&](Layout layout, std::int64_t channels) {
    const std::int64_t padding = layout == Layout::nhwc ? -channels & 7 : 0;
    return ActivationFormat{.layout = layout,
                            .precision = options.precision,
                            .channel_padding = static_cast<int>(padding)};
  };
  std::vector<ConvFormats> formats;
  const bool is_even = conv.in_channels % 8 == 0 && conv.out_channels % 8 == 0;
  if (has_padded_channels(options) && conv.groups == 1 && !is_even) {
    formats.push_back(
        {format(Layout::nhwc, conv.in_channels), format(Layout::nhwc, conv.out_channels)});
  }
  for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
    formats.push_back({format(layout, 0), format(layout, 0)});
  }
  return formats;
}

std::vector<DenseConv> dense_convs(const LayerProblem& problem, const Conv& conv) {
  std::vector<DenseConv> found;
  for (const ConvFormats& formats : conv_formats(problem.options, conv)) {
    const std::size_t reads = format_index(problem.input_formats[0], formats.in);
    const std::size_t writes = format_index(problem.output_formats, formats.out);
    if (!may_lie(problem, {reads}, writes)) continue;
    found.push_back({cudnn_problem(problem, conv, formats), reads, writes});
  }
  return found;
}

std::vector<DeferredConv> deferred_convs(const LayerProblem& problem, const Conv& conv) {
  std::vector<DeferredConv> found;
  for (const ConvFormats& formats : conv_formats(problem.options, conv)) {
    const std::size_t reads = format_index(problem.input_formats[0], formats.in);
    const std::size_t writes = format_index(problem.output_formats, deferred_from(formats.in));
    const bool is_known = std::ranges::find(found, reads, &DeferredConv::reads) != found.end();
    if (!is_known && may_lie(problem, {reads}, writes)) found.push_back({reads, writes});
  }
  return found;
}

std::vector<DenseSum> dense_sums(const LayerProblem& problem) {
  std::vector<DenseSum> sums;
  if (!std::holds_alternative<Add>(problem.step.op)) return sums;
  for (std::size_t i = 0; i < problem.fusions.computed.size(); ++i) {
    const std::size_t computed = problem.fusions.computed[i];
    if (computed == kNoStep) continue;
    const auto& conv = std::get<Conv>(problem.program.steps[computed].op);
    for (const ConvFormats& formats : conv_formats(problem.options, conv)) {
      DenseSum sum = dense_sum(problem, i, formats);
      if (may_lie(problem, sum.reads, sum.writes)) sums.push_back(std::move(sum));
    }
  }
  return sums;
}

std::vector<NamedLayer> named_layers(const CudnnProblem& problem, std::vector<NamedLayer> layers) {
  if (problem.in_padding == 0 && problem.out_padding == 0) return layers;
  for (NamedLayer& layer : layers) layer.name += " padded";
  return layers;
}

}  // namespace winnow
