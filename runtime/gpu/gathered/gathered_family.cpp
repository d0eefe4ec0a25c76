// Sparse convolution on tensor cores, alone or with the addition or pooling that reads it: then the
// convolution's value is deferred, and the later step's launch computes both.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/gathered/resident_conv.h"
#include "runtime/gpu/gathered/ring_choice.h"
#include "runtime/gpu/gathered/ring_conv.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/plan/timing_table.h"

namespace winnow {
namespace {

// Of each kernel.
constexpr std::size_t kMostTiles = 4;
constexpr std::size_t kMostFusedTiles = 2;

constexpr std::int64_t kFewestRingImages = 4;   // of a batch; unless asked for
constexpr std::int64_t kMostResidentSide = 32;  // pixels of an output; larger maps are the ring's

// Tensor cores multiply dense matrices about twice as fast as gathered ones: where more columns are
// left than this the layer could only lose, unless it has so few that memory decides.
constexpr double kMostCovered = 0.6;
constexpr std::int64_t kFewColumns = 512;

class RingPrepared : public PreparedLayer {
 public:
  // Input `conv_input` of the step is what the convolution reads; another one is added.
  RingPrepared(RingLayer layer, std::size_t conv_input, int sms)
      : layer_(std::move(layer)), conv_input_(conv_input), sms_(sms) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    const ActivationView* addend = in.size() > 1 ? &in[1 - conv_input_] : nullptr;
    ring_conv(layer_, in[conv_input_], addend, out, sms_, stream);
  }

 private:
  RingLayer layer_;
  std::size_t conv_input_;
  int sms_;
};

class ResidentPrepared : public PreparedLayer {
 public:
  // As RingPrepared.
  ResidentPrepared(ResidentLayer layer, std::size_t conv_input)
      : layer_(std::move(layer)), conv_input_(conv_input) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    const ActivationView* addend = in.size() > 1 ? &in[1 - conv_input_] : nullptr;
    resident_conv(layer_, in[conv_input_], addend, out, best_resident_loads(), stream);
  }

 private:
  ResidentLayer layer_;
  std::size_t conv_input_;
};

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

class Preparation {
 public:
  Preparation(const LayerProblem& problem, const GatheredLaunch& launch, const GpuContext& gpu)
      : problem_(problem),
        launch_(launch),
        groups_(groups_of(problem.model, launch.conv_step, launch.conv)),
        work_{.conv = launch.conv,
              .pool = launch.pool,
              .in = extents_of(problem.program.values[input()].shape),
              .groups = groups_.weight.rows(),
              .columns = static_cast<double>(groups_.weight.blocks()) /
                         static_cast<double>(std::max<std::int64_t>(1, groups_.weight.rows())),
              .sms = gpu.sms(),
              .most_shared_bytes = static_cast<std::int64_t>(gpu.shared_bytes_per_block())},
        resident_{.conv = launch.conv,
                  .in = work_.in,
                  .out = conv_output(launch.conv, work_.in),
                  .kept_columns = static_cast<std::int64_t>(work_.columns),
                  .pools = launch.pool != RingPool::none} {}

  std::string why_not() const {
    const bool is_dense =
        covered_share(groups_) > kMostCovered && work_.columns > static_cast<double>(kFewColumns);
    if (is_dense && !is_asked()) return "too many columns are left";
    if (!ring_tiles(1).empty() || !best_resident_tiles(1).empty()) return "";
    return "its input does not fit shared memory";
  }

  std::vector<NamedLayer> layers() const {
    const ChannelOrders& orders = *problem_.orders;
    const auto in_places = orders.places_of(input(), launch_.conv.in_channels);
    const auto out_places = orders.places_of(launch_.last.output, launch_.conv.out_channels);
    const std::vector<float> bias = bias_or_zeros(
        weights_of(problem_.model, launch_.conv_step).bias, launch_.conv.out_channels);
    const std::size_t most = is_fused(launch_) ? kMostFusedTiles : kMostTiles;
    std::vector<NamedLayer> layers;
    for (const RingTile& tile : ring_tiles(most)) {
      const RingProblem ring{launch_.conv, tile, has_relu(), launch_.pool};
      RingLayer layer = upload_ring_layer(
          pack_for_ring(groups_, launch_.conv, tile, in_places, out_places), bias, ring);
      layers.push_back({to_string(tile), std::make_shared<const RingPrepared>(
                                             std::move(layer), launch_.conv_input, work_.sms)});
    }
    for (const ResidentTile& tile : best_resident_tiles(most)) {
      const ResidentGeometry geometry =
          resident_geometry(tile, launch_.conv, resident_.in, resident_.out);
      ResidentLayer layer = upload_resident_layer(
          pack_for_resident(groups_, launch_.conv, tile, geometry, in_places, out_places), bias,
          launch_.conv, tile, resident_.in, resident_.out,
          {.has_relu = has_relu(), .pool = launch_.pool});
      layers.push_back({to_string(tile), std::make_shared<const ResidentPrepared>(
                                             std::move(layer), launch_.conv_input)});
    }
    return layers;
  }

 private:
  std::size_t input() const { return launch_.conv_step.inputs[0]; }
  bool is_asked() const { return problem_.options.family == "gathered"; }

  std::vector<RingTile> ring_tiles(std::size_t most) const {
    const bool has_images = is_asked() || work_.in.n >= kFewestRingImages;
    if (!has_images || !ring_missing_reason().empty()) return {};
    return best_ring_tiles(work_, most);
  }
  std::vector<ResidentTile> best_resident_tiles(std::size_t most) const {
    if (resident_.out.h > kMostResidentSide || resident_.out.w > kMostResidentSide) return {};
    return resident_tiles(resident_, resident_limits(), most);
  }
  // A pooling comes after relu, a sum before it.
  bool has_relu() const {
    return launch_.pool == RingPool::none ? launch_.last.has_relu : launch_.conv_step.has_relu;
  }

  const LayerProblem& problem_;
  const GatheredLaunch& launch_;
  GatheredGroups groups_;
  RingWork work_;
  ResidentWork resident_;
};

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
    if (!reads_gathered(problem, launch)) return "its values do not lie in nchw32c8n";
    if (is_fused(launch) && !is_sparse_wanted(problem, launch)) return "runs sparse weights";
    if (is_fused(launch) && !has_one_order(problem, launch)) return "what it adds lies otherwise";
    return Preparation(problem, launch, gpu).why_not();
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
    for (NamedLayer& layer : Preparation(problem, launch, gpu).layers()) {
      found.push_back({.family = name(),
                       .kernel = kernel + layer.name,
                       .reads = reads,
                       .writes = gathered_index(problem.output_formats),
                       .layer = std::move(layer.layer),
                       .timing_key = "gathered " + layer.name + key});
    }
    const std::size_t deferred = format_index(problem.output_formats, kDeferred);
    if (is_fused(launch) || deferred == problem.output_formats.size()) return;
    if (!std::holds_alternative<Conv>(problem.step.op)) return;  // stacks defer linear layers
    const std::string& reader = problem.program.steps[problem.fusions.into].name;
    found.push_back({.family = name(),
                     .kernel = "gathered, in the launch of " + reader,
                     .reads = reads,
                     .writes = deferred,
                     .layer = nullptr,
                     .timing_key = "gathered deferred"});
  }
};

}  // namespace

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
