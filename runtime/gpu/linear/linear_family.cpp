// Sparse linear layers: one warp per row of blocks.
#include <variant>

#include "runtime/gpu/dense/cublaslt_linear.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/linear/sparse_linear.h"

namespace winnow {
namespace {

class SparseLinearLayer : public PreparedLayer {
 public:
  SparseLinearLayer(std::shared_ptr<const SparseLinearWeights> weights, SparseLinearCall call)
      : weights_(std::move(weights)), call_(call) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    SparseLinearCall call = call_;
    call.x = in[0].data;
    call.y = out.data;
    sparse_linear(*weights_, call, stream);
  }

 private:
  std::shared_ptr<const SparseLinearWeights> weights_;
  SparseLinearCall call_;  // without the tensors
};

class LinearFamily : public Family {
 public:
  std::string name() const override { return "sparse_linear"; }
  bool is_sparse() const override { return true; }

  std::string why_not(const LayerProblem& problem, GpuContext& gpu) const override {
    if (!std::holds_alternative<Linear>(problem.step.op)) return "runs linear layers only";
    const bool is_wanted =
        problem.options.family == name() || !cublaslt_missing_reason(gpu).empty();
    if (problem.weights().sparse() == nullptr && !is_wanted) {
      return "the weight is dense";
    }
    return "";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext&) const override {
    const auto& linear = std::get<Linear>(problem.step.op);
    const Precision precision = problem.options.precision;
    const std::size_t reads = format_index(problem.input_formats[0], row_major(precision));
    const std::size_t writes = format_index(problem.output_formats, row_major(precision));
    const std::int64_t elements =
        element_count(problem.program.values[problem.step.inputs[0]].shape);
    SparseLinearCall call{.images = linear.in_features > 0 ? elements / linear.in_features : 0,
                          .has_relu = problem.step.has_relu};
    const StepWeights stored = problem.weights();
    const auto weights = std::make_shared<const SparseLinearWeights>(upload_sparse_linear(
        direct_rows(*stored.weight, linear.out_features, 1), linear.in_features,
        bias_or_zeros(stored.bias, linear.out_features), precision));
    std::vector<Candidate> found;
    for (const int sub_batch : {1, 2, 4, 8}) {
      const int asked = problem.options.sub_batch;
      if (asked != 0 ? asked != sub_batch : sub_batch / 2 >= call.images) continue;
      call.sub_batch = sub_batch;
      const std::string kernel =
          "sparse_linear " + to_string(precision) + " sub_batch=" + std::to_string(sub_batch);
      found.push_back({.family = name(),
                       .kernel = kernel,
                       .reads = {reads},
                       .writes = writes,
                       .layer = std::make_shared<const SparseLinearLayer>(weights, call),
                       .timing_key = kernel});
    }
    return found;
  }
};

}  // namespace

const Family& linear_family() {
  static const LinearFamily family;
  return family;
}

}  // namespace winnow
