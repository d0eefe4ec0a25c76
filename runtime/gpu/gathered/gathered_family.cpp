// Sparse convolution on tensor cores, alone or with the addition or pooling that reads it: then the
// convolution's value is deferred, and the later step's launch computes both.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/base/joined_kernel.h"
#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/gathered/gathered_layers.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/plan/timing_table.h"

namespace winnow {
namespace {

// Fewer images leave most of the ring kernel's lanes empty; resident ones share weights instead.
constexpr std::int64_t kFewestRingImages = 4;

// Tiles of each kernel that are timed.
constexpr std::size_t kMostTiles = 4;
constexpr std::size_t kMostFusedTiles = 2;

// Tensor cores multiply dense matrices about twice as fast as gathered ones: where more columns are
// left than this the layer could only lose, unless it has so few that memory decides, or lies
// beside gathered layers, so that a dense kernel needs its input or output converted.
constexpr double kMostCovered = 0.6;
constexpr std::int64_t kFewColumns = 512;

// A convolution, and the step whose launch computes it: itself or what it is fused into.
struct GatheredLaunch {
  const Step& conv_step;
  const Step& last;
  std::size_t conv_input = 0;  // of `last`
  Conv conv;
  RingPool pool = RingPool::none;
};

// What the step launches; nothing if it is neither a convolution nor may compute input `i`.
std::optional<GatheredLaunch> launch_of(const LayerProblem& problem, std::size_t i) {
  const Program& program = problem.program;
  if (const auto conv = as_conv(program, problem.step)) {
    return GatheredLaunch{problem.step, problem.step, 0, *conv};
  }
  if (i >= problem.fusions.computed.size()) return std::nullopt;
  const std::size_t computed = problem.fusions.computed[i];
  if (computed == kNoStep) return std::nullopt;
  const Step& step = program.steps[computed];
  const std::optional<RingPool> pool = as_epilogue(problem.step.op);
  if (!pool.has_value() && !std::holds_alternative<Add>(problem.step.op)) return std::nullopt;
  return GatheredLaunch{step, problem.step, i, std::get<Conv>(step.op),
                        pool.value_or(RingPool::none)};
}

bool is_fused(const GatheredLaunch& launch) {
  return &launch.conv_step != &launch.last;
}

std::size_t gathered_index(const std::vector<ActivationFormat>& formats) {
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (formats[i].layout == Layout::nchw32c8n) return i;
  }
  return formats.size();
}

bool has_gathered(const std::vector<ActivationFormat>& formats) {
  return gathered_index(formats) < formats.size();
}

GatheredLayer layer_of(const LayerProblem& problem, const GatheredLaunch& launch) {
  const Conv& conv = launch.conv;
  const std::size_t input = launch.conv_step.inputs[0];
  const ChannelOrders& orders = *problem.orders;
  GatheredLayer layer;
  layer.conv = conv;
  layer.pool = launch.pool;
  // A pooling comes after relu, a sum before it.
  layer.has_relu = launch.pool == RingPool::none ? launch.last.has_relu : launch.conv_step.has_relu;
  layer.adds = launch.last.inputs.size() > 1;
  layer.in = extents_of(problem.program.values[input].shape);
  layer.bias = bias_or_zeros(weights_of(problem.model, launch.conv_step).bias, conv.out_channels);
  layer.input_place = orders.places_of(input, conv.in_channels);
  layer.output_place = orders.places_of(launch.last.output, conv.out_channels);
  layer.groups =
      with_sorted_rows(groups_of(problem.model, launch.conv_step, conv), layer.output_place);
  layer.conv_input = launch.conv_input;
  layer.fewest_ring_images = problem.options.family == "gathered" ? 1 : kFewestRingImages;
  return layer;
}

// Bank conflicts and the runs of memory that are written depend on the places of channels, which
// other layers decide too.
std::uint32_t places_checksum(const GatheredLayer& layer) {
  const std::uint32_t in = crc32c(std::as_bytes(std::span(layer.input_place)));
  return crc32c(std::as_bytes(std::span(layer.output_place)), in);
}

bool has_too_many_columns(const LayerProblem& problem, const GatheredLaunch& launch,
                          const GatheredLayer& layer) {
  const std::int64_t few = kFewColumns * layer.groups.weight.rows();
  return covered_share(layer.groups) > kMostCovered && layer.groups.weight.blocks() > few &&
         !lies_beside_sparse(problem.program, problem.model, launch.conv_step);
}

class GatheredFamily : public Family {
 public:
  std::string name() const override { return "gathered"; }
  bool is_sparse() const override { return true; }

  std::string why_not(const LayerProblem& problem, GpuContext& gpu) const override {
    std::string reason = "runs conv layers, linear layers on [N, features], and what reads them";
    for (std::size_t i = 0; i < problem.step.inputs.size(); ++i) {
      const auto launch = launch_of(problem, i);
      if (!launch.has_value()) continue;
      reason = why_not(problem, *launch, gpu);
      if (reason.empty()) return "";
    }
    return reason;
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const override {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < problem.step.inputs.size(); ++i) {
      const auto launch = launch_of(problem, i);
      if (!launch.has_value() || !why_not(problem, *launch, gpu).empty()) continue;
      append(found, problem, *launch, gpu);
    }
    return found;
  }

 private:
  std::string why_not(const LayerProblem& problem, const GatheredLaunch& launch,
                      GpuContext& gpu) const {
    const std::string reason = gathered_missing_reason(problem.options);
    if (!reason.empty()) return reason;
    if (!reads_gathered(problem, launch)) return "its input and output do not lie in nchw32c8n";
    if (is_fused(launch) && !is_sparse_wanted(problem, launch)) return "runs sparse weights";
    if (is_fused(launch) && !has_one_order(problem, launch)) return "what it adds lies otherwise";
    const GatheredLayer layer = layer_of(problem, launch);
    if (problem.options.family != name() && has_too_many_columns(problem, launch, layer)) {
      return "too many columns are left";
    }
    return has_gathered_layers(layer, gpu) ? "" : "its input does not fit shared memory";
  }

  static bool reads_gathered(const LayerProblem& problem, const GatheredLaunch& launch) {
    if (!has_gathered(problem.output_formats)) return false;
    for (std::size_t i = 0; i < problem.input_formats.size(); ++i) {
      const auto& formats = problem.input_formats[i];
      const bool is_deferred = is_fused(launch) && i == launch.conv_input;
      if (is_deferred ? format_index(formats, kDeferred) == formats.size()
                      : !has_gathered(formats)) {
        return false;
      }
    }
    return true;
  }

  // As the planner does for convolutions: sparse kernels run dense weights only where timed.
  static bool is_sparse_wanted(const LayerProblem& problem, const GatheredLaunch& launch) {
    const bool is_sparse = weights_of(problem.model, launch.conv_step).sparse() != nullptr;
    return is_sparse || problem.options.choice == KernelChoice::measured;
  }

  static bool has_one_order(const LayerProblem& problem, const GatheredLaunch& launch) {
    if (launch.last.inputs.size() == 1) return true;
    const std::size_t addend = launch.last.inputs[1 - launch.conv_input];
    const std::vector<int>& orders = problem.orders->of_value;
    return orders[addend] == orders[launch.last.output];
  }

  void append(std::vector<Candidate>& found, const LayerProblem& problem,
              const GatheredLaunch& launch, GpuContext& gpu) const {
    std::vector<std::size_t> reads;
    for (const auto& formats : problem.input_formats) reads.push_back(gathered_index(formats));
    std::string kernel = "gathered ", key;
    if (is_fused(launch)) {
      reads[launch.conv_input] = format_index(problem.input_formats[launch.conv_input], kDeferred);
      kernel += "with " + launch.conv_step.name + " ";
      key = " | " + step_key(problem.model, problem.program, launch.conv_step);
    }
    const GatheredLayer work = layer_of(problem, launch);
    key += " | places " + std::to_string(places_checksum(work));
    const std::size_t few = is_fused(launch) ? kMostFusedTiles : kMostTiles;
    const std::size_t most = problem.options.all_tiles ? kAllTiles : few;
    for (NamedLayer& layer : gathered_layers(work, gpu, most)) {
      found.push_back({.family = name(),
                       .kernel = kernel + layer.name,
                       .reads = reads,
                       .writes = gathered_index(problem.output_formats),
                       .layer = std::move(layer.layer),
                       .timing_key = "gathered " + layer.name + key,
                       .clocks = layer.clocks});
    }
    const std::size_t deferred = format_index(problem.output_formats, kDeferred);
    if (is_fused(launch) || deferred == problem.output_formats.size()) return;
    if (!std::holds_alternative<Conv>(problem.step.op)) return;  // stacks defer linear layers
    const std::string& reader = problem.program.steps[problem.fusions.into].name;
    found.push_back({.family = name(),
                     .kernel = in_launch_of(name(), reader),
                     .reads = reads,
                     .writes = deferred,
                     .layer = nullptr,
                     .timing_key = "gathered deferred"});
  }
};

}  // namespace

GatheredValues session_values(const DeployedModel& model, const Program& program,
                              const SessionOptions& options,
                              const std::vector<StepFusions>& fusions) {
  if (gathered_missing_reason(options).empty()) return gathered_values(program, model, fusions);
  const std::vector<bool> none(program.values.size(), false);
  return {none, none, {}};
}

std::string gathered_missing_reason(const SessionOptions& options) {
  const bool is_asked = options.family == "gathered";
  if (!options.family.empty() && !is_asked) return "is not asked for";
  if (options.choice == KernelChoice::dense && !is_asked) return "is not asked for";
  if (options.precision != Precision::f16) return "wants half precision";
  return "";
}

const Family& gathered_family() {
  static const GatheredFamily family;
  return family;
}

}  // namespace winnow
