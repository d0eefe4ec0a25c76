// The dense baseline: cuDNN for convolutions, cuBLASLt for linear layers.
#include <variant>

#include "runtime/base/error.h"
#include "runtime/kernels/cublaslt_linear.h"
#include "runtime/kernels/cudnn_conv.h"
#include "runtime/kernels/family_list.h"
#include "runtime/kernels/typed_weights.h"

namespace winnow {
namespace {

constexpr std::size_t kMostMatmuls = 8;

// A linear layer on [.., in] -> [.., out]: all leading dimensions are rows.
LinearProblem linear_problem(const LayerProblem& problem, const Linear& linear) {
  const std::int64_t elements = element_count(problem.program.values[problem.step.inputs[0]].shape);
  return {.rows = linear.in_features > 0 ? elements / linear.in_features : 0,
          .in = linear.in_features,
          .out = linear.out_features,
          .has_relu = problem.step.has_relu,
          .precision = problem.options.precision};
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
    const std::string& name = problem.step.name;
    std::vector<Candidate> found;
    if (const auto* conv = std::get_if<Conv>(&problem.step.op)) {
      const std::vector<float> weight = dense_weight(problem.model, name);
      const std::vector<float> bias = bias_or_zeros(problem.model, name, conv->out_channels);
      for (const Layout layout : layouts(*conv, problem.options.precision)) {
        append_conv(found, problem, *conv, layout, weight, bias, gpu);
      }
    } else if (const auto* linear = std::get_if<Linear>(&problem.step.op)) {
      const ActivationFormat format = plain(problem.options.precision);
      append(found,
             cublaslt_layers(linear_problem(problem, *linear), dense_weight(problem.model, name),
                             bias_or_zeros(problem.model, name, linear->out_features), gpu,
                             kMostMatmuls),
             format_index(problem.input_formats[0], format),
             format_index(problem.output_formats, format));
    }
    return found;
  }

 private:
  // fp16 on tensor cores wants channels last; with few channels the other layout may do better.
  static std::vector<Layout> layouts(const Conv& conv, Precision precision) {
    const bool is_aligned = conv.in_channels % 8 == 0 && conv.out_channels % 8 == 0;
    if (precision == Precision::f16 && is_aligned) return {Layout::nhwc};
    return {Layout::nhwc, Layout::nchw};
  }

  static void append_conv(std::vector<Candidate>& found, const LayerProblem& problem,
                          const Conv& conv, Layout layout, std::span<const float> weight,
                          std::span<const float> bias, GpuContext& gpu) {
    const ActivationFormat format{.layout = layout, .precision = problem.options.precision};
    const std::size_t reads = format_index(problem.input_formats[0], format);
    const std::size_t writes = format_index(problem.output_formats, format);
    if (reads == problem.input_formats[0].size() || writes == problem.output_formats.size()) return;
    append(found,
           cudnn_layers({.conv = conv,
                         .has_relu = problem.step.has_relu,
                         .in = problem.input_size(0),
                         .out = problem.output_size(),
                         .layout = layout,
                         .precision = problem.options.precision},
                        weight, bias, gpu),
           reads, writes);
  }
};

}  // namespace

const Family& dense_family() {
  static const DenseFamily family;
  return family;
}

std::size_t format_index(const std::vector<ActivationFormat>& formats,
                         const ActivationFormat& wanted) {
  std::size_t i = 0;
  while (i < formats.size() && !(formats[i] == wanted)) ++i;
  return i;
}

}  // namespace winnow
