// Stacks of sparse linear layers in one launch. The last step of a stack launches it; the others
// write deferred values, which take no memory and no time.
#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/joined_kernel.h"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/linear/deployed_layer.h"
#include "runtime/gpu/linear/linear_stack.h"
#include "runtime/plan/timing_table.h"

namespace winnow {
namespace {

// Where dense kernels are faster by far, so that ordering the weights can be saved: shared memory
// gives a quarter of the fp32 multiply-adds that an SM could do.
constexpr double kMostDensity = 0.35;

class LinearStackLayer : public PreparedLayer {
 public:
  LinearStackLayer(std::shared_ptr<const LinearStackWeights> weights, int sms)
      : weights_(std::move(weights)), sms_(sms) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    linear_stack(*weights_, in[0], out, sms_, stream);
  }

 private:
  std::shared_ptr<const LinearStackWeights> weights_;
  int sms_;
};

const Step& step_of(const LayerProblem& problem, std::size_t i) {
  return problem.program.steps[problem.stack->steps[i]];
}

std::int64_t features_of(const LayerProblem& problem, std::size_t value) {
  return problem.program.values[value].shape[1];
}

StackWidths widths_of(const LayerProblem& problem) {
  StackWidths widths;
  for (std::size_t i = 0; i < problem.stack->steps.size(); ++i) {
    const Step& step = step_of(problem, i);
    const std::int64_t outputs = features_of(problem, step.output);
    widths.most_inputs = std::max(widths.most_inputs, features_of(problem, step.inputs[0]));
    widths.most_outputs = std::max(widths.most_outputs, outputs);
    const bool is_last = i + 1 == problem.stack->steps.size();
    if (!is_last) widths.fewest_inner = std::min(widths.fewest_inner, outputs);
  }
  return widths;
}

// What times depend on: the weights that the launch reads.
std::string weights_key(const LayerProblem& problem) {
  std::string key;
  for (std::size_t i = 0; i < problem.stack->steps.size(); ++i) {
    const StepWeights weights = weights_of(problem.model, step_of(problem, i));
    key.append(" ").append(std::to_string(checksum_of(*weights.weight)));
  }
  return key;
}

// Row-major values of either precision, where they are among the formats.
std::vector<std::size_t> row_major_formats(const std::vector<ActivationFormat>& formats) {
  std::vector<std::size_t> found;
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    const std::size_t index = format_index(formats, row_major(precision));
    if (index < formats.size()) found.push_back(index);
  }
  return found;
}

class LinearStackFamily : public Family {
 public:
  std::string name() const override { return "linear_stack"; }
  bool is_sparse() const override { return true; }

  std::string why_not(const LayerProblem& problem, GpuContext& gpu) const override {
    if (!std::holds_alternative<Linear>(problem.step.op)) return "runs linear layers only";
    if (problem.stack == nullptr) {
      return "wants a sparse weight and [N, F] values that fit shared memory";
    }
    if (problem.options.family != name() && problem.stack->density > kMostDensity) {
      return "too many weights are left";
    }
    return forms(problem, gpu).empty() ? "does not fit shared memory" : "";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const override {
    const bool is_last = &problem.step == &step_of(problem, problem.stack->steps.size() - 1);
    return is_last ? launching(problem, gpu) : deferring(problem);
  }

 private:
  static std::vector<LinearStackForm> forms(const LayerProblem& problem, const GpuContext& gpu) {
    return linear_stack_forms(problem.options.precision, widths_of(problem), problem.program.batch,
                              {.sms = gpu.sms(),
                               .shared_bytes = gpu.shared_bytes_per_block(),
                               .has_clusters = has_clusters()});
  }

  // What the step reads: the stack's input, or what the step before deferred.
  static std::vector<std::size_t> reads_of(const LayerProblem& problem) {
    const std::vector<ActivationFormat>& formats = problem.input_formats[0];
    if (&problem.step == &step_of(problem, 0)) return row_major_formats(formats);
    return {format_index(formats, kDeferred)};
  }

  std::vector<Candidate> deferring(const LayerProblem& problem) const {
    const std::string& last = step_of(problem, problem.stack->steps.size() - 1).name;
    std::vector<Candidate> found;
    for (const std::size_t reads : reads_of(problem)) {
      found.push_back({.family = name(),
                       .kernel = in_launch_of(name(), last),
                       .reads = {reads},
                       .writes = format_index(problem.output_formats, kDeferred),
                       .layer = nullptr,
                       .timing_key = "linear_stack deferred " + std::to_string(reads)});
    }
    return found;
  }

  std::vector<Candidate> launching(const LayerProblem& problem, const GpuContext& gpu) const {
    std::vector<SparseLayer> layers;
    std::vector<bool> has_relu;
    for (std::size_t i = 0; i < problem.stack->steps.size(); ++i) {
      const Step& step = step_of(problem, i);
      const auto& linear = std::get<Linear>(step.op);
      const StepWeights weights = weights_of(problem.model, step);
      layers.push_back(sparse_layer(block_csr(*weights.sparse()),
                                    bias_or_zeros(weights.bias, linear.out_features)));
      has_relu.push_back(step.has_relu);
    }
    const std::string weights_read = weights_key(problem);
    std::vector<Candidate> found;
    for (const LinearStackForm& form : forms(problem, gpu)) {
      const auto weights = std::make_shared<const LinearStackWeights>(layers, has_relu, form);
      const std::string kernel = "linear_stack of " + std::to_string(layers.size()) + " " +
                                 to_string(form) + " from " + step_of(problem, 0).name;
      const auto layer = std::make_shared<const LinearStackLayer>(weights, gpu.sms());
      for (const std::size_t reads : reads_of(problem)) {
        for (const std::size_t writes : row_major_formats(problem.output_formats)) {
          found.push_back({.family = name(),
                           .kernel = kernel,
                           .reads = {reads},
                           .writes = writes,
                           .layer = layer,
                           .timing_key = kernel + weights_read});
        }
      }
    }
    return found;
  }
};

}  // namespace

const Family& linear_stack_family() {
  static const LinearStackFamily family;
  return family;
}

}  // namespace winnow
