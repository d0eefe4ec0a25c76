// `fused`: images stay in shared memory for several layers at a time; dead ones are dropped between
// launches without a word to the host; the whole network is one CUDA graph.
#include <algorithm>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/challenge/engines/fused/fused_engines.h"
#include "runtime/challenge/engines/fused/resident_kernel.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/layer_plan.h"
#include "runtime/device/attribute.h"

namespace winnow::challenge {
namespace {

struct ResidentForms {
  ResidentForm full, half;
};

// The forms with the most images to a row that fit shared memory, if there are any.
std::optional<ResidentForms> fitting_forms(std::uint32_t rows, int gpu) {
  const auto shared =
      static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
  ResidentForms forms{{false, 16}, {true, 16}};
  while (forms.full.images >= 4 && !forms.full.fits(rows, shared)) forms.full.images /= 2;
  while (forms.half.images >= 8 && !forms.half.fits(rows, shared)) forms.half.images /= 2;
  if (forms.full.images < 4 || forms.half.images < 8) return std::nullopt;
  return forms;
}

class ResidentEngine : public FusedEngine {
 public:
  ResidentEngine(const Network& network, const EngineOptions& options, const ResidentForms& forms)
      : FusedEngine(network, options),
        sms_(device_attribute(cudaDevAttrMultiProcessorCount, options.gpu)),
        full_(forms.full),
        half_(forms.half) {
    const std::uint32_t half_from = first_half_layer(options, network.neurons(), network.layers());
    launches_ = plan_resident_launches(network.layers(), half_from);
    std::vector<std::uint32_t> bank_groups;
    for (const FusedLaunch& launch : launches_) {
      bank_groups.insert(bank_groups.end(), launch.last - launch.first,
                         form_of(launch).bank_groups());
    }
    weights_.emplace(network, bank_groups, ResidentSchedule{}, options.threads);
  }

  std::string kernel() const override {
    std::string text = "resident fp32 x" + std::to_string(full_.images);
    if (launches_.back().is_half) text += ", fp16 x" + std::to_string(half_.images);
    text += ", " + std::to_string(launches_.size()) + " launches in one graph";
    return text + in_batches(images_at_a_time());
  }
  std::string discovery() const override {
    char text[96];
    std::snprintf(text, sizeof(text), "lanes ordered: %.3f passes of shared memory per access",
                  weights_->passes_per_access());
    return text;
  }
  double prepare_ms() const override { return weights_->order_ms(); }

 protected:
  void upload(const SparseImages& images) override {
    take(images, weights_->rows(), launches_.size() + 1);
  }

 private:
  const ResidentForm& form_of(const FusedLaunch& launch) const {
    return launch.is_half ? half_ : full_;
  }

  void enqueue(const Batch& batch) override {
    const FusedBlock& block = block_of(batch);
    std::uint32_t* const counts = block.counts.get();  // [launch]: images that enter it
    CUDA_CHECK(cudaMemsetAsync(counts, 0, block.counts.bytes(), stream(batch.block)));
    for (std::size_t p = 0; p < launches_.size(); ++p) {
      const bool is_first = p == 0, is_last = p + 1 == launches_.size();
      ResidentLaunch launch;
      launch.weights = weights_->view();
      launch.first_layer = launches_[p].first;
      launch.last_layer = launches_[p].last;
      launch.rows = weights_->rows();
      launch.form = form_of(launches_[p]);
      launch.in.bits = is_first ? batch.bits.get() : nullptr;
      launch.in.inputs = neurons();
      launch.in.data = block.activations[p % 2].get();
      launch.in.count = is_first ? batch.size.get() : counts + p;
      launch.in.id = is_first ? nullptr : block.ids[p % 2].get();
      launch.out.form = is_last ? launch.form : form_of(launches_[p + 1]);
      launch.out.data = is_last ? nullptr : block.activations[(p + 1) % 2].get();
      launch.out.count = counts + p + 1;
      launch.out.id = is_last ? nullptr : block.ids[(p + 1) % 2].get();
      launch.out.live_bits = is_last ? live_bits(batch.block) : nullptr;
      launch_resident(launch, sms_, stream(batch.block));
    }
  }

  int sms_;
  ResidentForm full_, half_;
  std::vector<FusedLaunch> launches_;
  std::optional<ResidentWeights> weights_;
};

}  // namespace

std::unique_ptr<Engine> make_fused_engine(const Network& network, const EngineOptions& options) {
  std::optional<ResidentForms> forms;
  if (options.weight_bytes == 0) {  // otherwise to be streamed if need be
    forms = fitting_forms(network.neurons(), options.gpu);
    // All layers are read for their widths only where the first leaves it open.
    if (forms) forms = fitting_forms(widest_rows(network), options.gpu);
  }
  if (!forms) return make_gather_engine(network, options);
  return std::make_unique<ResidentEngine>(network, options, *forms);
}

}  // namespace winnow::challenge
