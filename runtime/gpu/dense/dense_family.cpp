// The dense baseline: cuDNN for convolutions, alone or with the addition that reads them, cuBLASLt
// for linear layers.
#include <string>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/base/joined_kernel.h"
#include "runtime/gpu/dense/cublaslt_linear.h"
#include "runtime/gpu/dense/dense_conv.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/plan/timing_table.h"

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

void append_convs(std::vector<Candidate>& candidates, const LayerProblem& problem, const Conv& conv,
                  GpuContext& gpu) {
  const StepWeights weights = problem.weights();
  const std::vector<float> weight = dense_floats(weights.weight);
  const std::vector<float> bias = bias_or_zeros(weights.bias, conv.out_channels);
  for (const DenseConv& dense : dense_convs(problem, conv)) {
    append(candidates, named_layers(dense.problem, cudnn_layers(dense.problem, weight, bias, gpu)),
           dense.reads, dense.writes);
  }
  if (candidates.empty()) return;  // what cuDNN does not run alone is not deferred either
  for (const DeferredConv& deferred : deferred_convs(problem, conv)) {
    const std::string& reader = problem.program.steps[problem.fusions.into].name;
    candidates.push_back({.family = "dense",
                          .kernel = in_launch_of("cudnn", reader),
                          .reads = {deferred.reads},
                          .writes = deferred.writes,
                          .layer = nullptr,
                          .timing_key = "dense deferred"});
  }
}

void append_linear(std::vector<Candidate>& candidates, const LayerProblem& problem,
                   const Linear& linear, GpuContext& gpu) {
  const StepWeights weights = problem.weights();
  const ActivationFormat format = row_major(problem.options.precision);
  append(candidates,
         cublaslt_layers(linear_problem(problem, linear), dense_floats(weights.weight),
                         bias_or_zeros(weights.bias, linear.out_features), gpu),
         format_index(problem.input_formats[0], format),
         format_index(problem.output_formats, format));
}

void append_sums(std::vector<Candidate>& candidates, const LayerProblem& problem, GpuContext& gpu) {
  for (const DenseSum& sum : dense_sums(problem)) {
    const StepWeights weights = weights_of(problem.model, *sum.conv_step);
    const std::vector<float> bias = bias_or_zeros(weights.bias, sum.problem.conv.out_channels);
    const std::string key = step_key(problem.model, problem.program, *sum.conv_step);
    const std::vector<float> weight = dense_floats(weights.weight);
    for (NamedLayer& layer :
         named_layers(sum.problem, cudnn_layers(sum.problem, weight, bias, gpu))) {
      candidates.push_back({.family = "dense",
                            .kernel = layer.name + " with " + sum.conv_step->name,
                            .reads = sum.reads,
                            .writes = sum.writes,
                            .layer = std::move(layer.layer),
                            .timing_key = layer.name + " | " + key});
    }
  }
}

class DenseFamily : public Family {
 public:
  std::string name() const override { return "dense"; }
  bool is_sparse() const override { return false; }

  std::string why_not(const LayerProblem& problem, GpuContext& gpu) const override {
    if (std::holds_alternative<Conv>(problem.step.op)) return cudnn_missing_reason(gpu);
    if (std::holds_alternative<Linear>(problem.step.op)) return cublaslt_missing_reason(gpu);
    if (!dense_sums(problem).empty()) return cudnn_missing_reason(gpu);
    return "runs conv and linear layers, and additions that read a conv alone";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const override {
    std::vector<Candidate> found;
    if (const auto* conv = std::get_if<Conv>(&problem.step.op)) {
      append_convs(found, problem, *conv, gpu);
    } else if (const auto* linear = std::get_if<Linear>(&problem.step.op)) {
      append_linear(found, problem, *linear, gpu);
    } else {
      append_sums(found, problem, gpu);
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
