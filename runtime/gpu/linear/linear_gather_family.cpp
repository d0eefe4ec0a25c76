// Sparse linear layers of many images, one launch each.
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/linear/deployed_layer.h"
#include "runtime/gpu/linear/linear_gather.h"

namespace winnow {
namespace {

class LinearGatherLayer : public PreparedLayer {
 public:
  LinearGatherLayer(const SparseLayer& layer, bool has_relu)
      : weights_(layer), has_relu_(has_relu) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    linear_gather(weights_, in[0], out, has_relu_, stream);
  }

 private:
  LinearGatherWeights weights_;
  bool has_relu_;
};

class LinearGatherFamily : public Family {
 public:
  std::string name() const override { return "linear_gather"; }
  bool is_sparse() const override { return true; }

  std::string why_not(const LayerProblem& problem, GpuContext&) const override {
    if (!std::holds_alternative<Linear>(problem.step.op)) return "runs linear layers only";
    if (problem.weights().sparse() == nullptr) return "the weight is dense";
    const ActivationFormat format = packed(problem);
    const bool has_format =
        format_index(problem.input_formats[0], format) < problem.input_formats[0].size() &&
        format_index(problem.output_formats, format) < problem.output_formats.size();
    return has_format ? "" : "wants [N, F] values of at least 16 images";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext&) const override {
    const StepWeights weights = problem.weights();
    const auto& linear = std::get<Linear>(problem.step.op);
    const SparseLayer layer = sparse_layer(block_csr(*weights.sparse()),
                                           bias_or_zeros(weights.bias, linear.out_features));
    const ActivationFormat format = packed(problem);
    const std::string kernel = "linear_gather " + to_string(format);
    return {{.family = name(),
             .kernel = kernel,
             .reads = {format_index(problem.input_formats[0], format)},
             .writes = format_index(problem.output_formats, format),
             .layer = std::make_shared<const LinearGatherLayer>(layer, problem.step.has_relu),
             .timing_key = kernel}};
  }

 private:
  static ActivationFormat packed(const LayerProblem& problem) {
    return {.layout = Layout::chwn32, .precision = problem.options.precision};
  }
};

}  // namespace

const Family& linear_gather_family() {
  static const LinearGatherFamily family;
  return family;
}

}  // namespace winnow
