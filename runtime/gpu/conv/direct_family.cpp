// The paper's direct sparse convolution, and linear layers as 1x1 convolutions of single points.
#include <map>
#include <optional>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/conv/direct_conv.h"
#include "runtime/gpu/conv/padded_rows.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"

namespace winnow {
namespace {

class DirectLayerPrepared : public PreparedLayer {
 public:
  DirectLayerPrepared(const DirectLayer& layer, std::shared_ptr<const DirectWeights> weights)
      : layer_(layer), weights_(std::move(weights)) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    direct_conv(layer_, *weights_, in[0], out, stream);
  }

 private:
  DirectLayer layer_;
  std::shared_ptr<const DirectWeights> weights_;
};

DirectRows rows_of(const LayerProblem& problem, const Conv& conv, Pads pads) {
  const StepWeights weights = problem.weights();
  if (pads == Pads::keep) return direct_rows(block_csr(*weights.sparse(), pads), conv.groups);
  return direct_rows(*weights.weight, conv.out_channels, conv.groups);
}

std::string name_of(Pads pads) {
  return pads == Pads::keep ? "direct_ell" : "direct";
}

// Candidates of one input format share weights; those of one kernel share its time.
class Preparation {
 public:
  Preparation(const LayerProblem& problem, const Conv& conv, Pads pads, int sms)
      : family_(name_of(pads)),
        problem_(problem),
        conv_(conv),
        sms_(sms),
        rows_(rows_of(problem, conv, pads)),
        bias_(bias_or_zeros(problem.weights().bias, conv.out_channels)) {}

  std::vector<Candidate> candidates() {
    std::vector<Candidate> found;
    for (std::size_t reads = 0; reads < problem_.input_formats[0].size(); ++reads) {
      const ActivationFormat& format = problem_.input_formats[0][reads];
      if (!is_readable(format)) continue;
      append(found, reads, format);
    }
    return found;
  }

 private:
  bool is_readable(const ActivationFormat& format) const {
    const bool is_known = format.layout == Layout::nchw || format.layout == Layout::chwn8;
    return is_known && !format.is_deferred && format.precision == problem_.options.precision &&
           format.halo_h >= conv_.padding[0] && format.halo_w >= conv_.padding[1];
  }

  void append(std::vector<Candidate>& found, std::size_t reads, const ActivationFormat& format) {
    const DirectWork work{.out = problem_.output_size(),
                          .rows = rows_.rows,
                          .vector = rows_.vector,
                          .layout = format.layout,
                          .sms = sms_,
                          .has_clusters = has_clusters()};
    std::map<int, std::shared_ptr<const DirectWeights>> weights;  // by channels per thread
    for (const DirectTile& tile : direct_tiles(work, problem_.options.sub_batch)) {
      auto& uploaded = weights[tile.channels];
      if (uploaded == nullptr) {
        const ActivationStrides strides = strides_of(format, problem_.input_size(0));
        uploaded = std::make_shared<const DirectWeights>(
            upload_direct_weights(rows_, bias_, conv_, strides, tile.channels));
      }
      const auto layer = std::make_shared<const DirectLayerPrepared>(
          DirectLayer{conv_, problem_.step.has_relu, tile}, uploaded);
      const std::string kernel = family_ + " " + to_string(format.layout) + " " +
                                 to_string(format.precision) + " " + to_string(tile);
      for (std::size_t writes = 0; writes < problem_.output_formats.size(); ++writes) {
        const ActivationFormat& out = problem_.output_formats[writes];
        if (out.is_deferred || out.layout != format.layout) continue;
        if (out.precision != format.precision) continue;
        found.push_back({.family = family_,
                         .kernel = kernel,
                         .reads = {reads},
                         .writes = writes,
                         .layer = layer,
                         .timing_key = kernel});
      }
    }
  }

  std::string family_;
  const LayerProblem& problem_;
  Conv conv_;
  int sms_;
  DirectRows rows_;
  std::vector<float> bias_;
};

// With pads it is the paper's form: equally long rows without bounds (section 7).
class DirectFamily : public Family {
 public:
  explicit DirectFamily(Pads pads) : pads_(pads) {}

  std::string name() const override { return name_of(pads_); }
  bool is_sparse() const override { return true; }

  std::string why_not(const LayerProblem& problem, GpuContext&) const override {
    const std::optional<Conv> conv = as_conv(problem.program, problem.step);
    if (!conv.has_value()) {
      return "runs conv layers, and linear layers on [N, features], only";
    }
    const StepWeights weights = problem.weights();
    const bool is_asked = problem.options.family == name();
    if (pads_ == Pads::keep) return why_not_padded(*weights.weight, *conv, is_asked);
    const bool is_linear = std::holds_alternative<Linear>(problem.step.op);
    return is_linear && weights.sparse() == nullptr && !is_asked ? "the weight is dense" : "";
  }

  std::vector<Candidate> candidates(const LayerProblem& problem, GpuContext& gpu) const override {
    const std::optional<Conv> conv = as_conv(problem.program, problem.step);
    if (!conv.has_value()) return {};
    return Preparation(problem, *conv, pads_, gpu.sms()).candidates();
  }

 private:
  Pads pads_;
};

}  // namespace

const Family& direct_family() {
  static const DirectFamily family(Pads::drop);
  return family;
}

const Family& direct_ell_family() {
  static const DirectFamily family(Pads::keep);
  return family;
}

}  // namespace winnow
