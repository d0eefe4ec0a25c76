// Dense linear layers of few outputs, alone or with the flattening before them: then what is
// flattened is deferred, and the launch reads the map. It is no sparse kernel: it serves the dense
// baseline as well.
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/linear/narrow_linear.h"

namespace winnow {
namespace {

class NarrowPrepared : public PreparedLayer {
 public:
  NarrowPrepared(std::shared_ptr<const NarrowLinearLayer> layer, const NarrowLinearCall& call)
      : layer_(std::move(layer)), call_(call) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    narrow_linear(*layer_, in[0], out, call_, stream);
  }

 private:
  std::shared_ptr<const NarrowLinearLayer> layer_;
  NarrowLinearCall call_;
};

// A way to read the inputs.
struct NarrowSource {
  std::size_t reads = 0;  // index into the formats of the input
  NarrowInputs inputs;
  std::vector<std::int32_t> places;  // of a map's channels
};

std::vector<NarrowSource> sources_of(const LayerProblem& problem, std::int64_t features) {
  const std::vector<ActivationFormat>& formats = problem.input_formats[0];
  std::vector<NarrowSource> found = {
      {format_index(formats, row_major(Precision::f16)), {.channels = features}, {}}};
  const std::size_t deferred = format_index(formats, kDeferred);
  const std::size_t flatten = problem.fusions.computed[0];
  if (deferred == formats.size() || flatten == kNoStep) return found;
  const std::size_t map = problem.program.steps[flatten].inputs[0];
  const Extents size = extents_of(problem.program.values[map].shape);
  found.push_back({deferred,
                   {.channels = size.c, .positions = size.h * size.w, .is_map = true},
                   problem.orders->places_of(map, size.c)});
  return found;
}

class NarrowLinearFamily : public Family {
 public:
  std::string name() const override { return "narrow_linear"; }
  bool is_sparse() const override { return false; }

  std::string why_not(const LayerProblem& problem, GpuContext& gpu) const override {
    const auto* linear = std::get_if<Linear>(&problem.step.op);
    if (linear == nullptr || problem.program.values[problem.step.inputs[0]].shape.size() != 2) {
      return "runs linear layers on [N, features]";
    }
    if (problem.options.precision != Precision::f16) return "wants half precision";
    if (linear->out_features > kMostNarrowOutputs) {
      return "has more than " + std::to_string(kMostNarrowOutputs) + " outputs";
    }
    return gpu.has_half_products() ? "" : "needs compute capability 8.0";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const override {
    std::vector<Candidate> found;
    const auto& linear = std::get<Linear>(problem.step.op);
    for (const NarrowSource& source : sources_of(problem, linear.in_features)) {
      append(found, problem, source, gpu.sms());
    }
    return found;
  }

 private:
  void append(std::vector<Candidate>& found, const LayerProblem& problem,
              const NarrowSource& source, int sms) const {
    const StepWeights weights = problem.weights();
    const auto& linear = std::get<Linear>(problem.step.op);
    const auto layer =
        std::make_shared<const NarrowLinearLayer>(upload_narrow_linear(pack_narrow_weights(
            dense_floats(weights.weight), bias_or_zeros(weights.bias, linear.out_features),
            source.inputs, source.places)));
    for (const int warps : narrow_warps(source.inputs.chunks())) {
      const NarrowLinearCall call{problem.step.has_relu, warps, sms};
      const auto prepared = std::make_shared<const NarrowPrepared>(layer, call);
      const std::string kernel = "narrow_linear f16 warps=" + std::to_string(warps) +
                                 (source.inputs.is_map ? " from " + text_of(source.inputs) : "");
      for (const Precision precision : {Precision::f16, Precision::f32}) {
        const std::size_t writes = format_index(problem.output_formats, row_major(precision));
        if (writes == problem.output_formats.size()) continue;
        found.push_back({.family = name(),
                         .kernel = kernel,
                         .reads = {source.reads},
                         .writes = writes,
                         .layer = prepared,
                         .timing_key = kernel + " to " + to_string(precision)});
      }
    }
  }

  // Of a map: sums of the same inputs take longer where blocks of channels are not full.
  static std::string text_of(const NarrowInputs& inputs) {
    return to_string(Layout::nchw32c8n) + " " + std::to_string(inputs.channels) + "x" +
           std::to_string(inputs.positions);
  }
};

}  // namespace

const Family& narrow_linear_family() {
  static const NarrowLinearFamily family;
  return family;
}

}  // namespace winnow
