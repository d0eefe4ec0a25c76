// `fused`: images stay in shared memory for several layers at a time; dead ones are dropped between
// launches without a word to the host; the whole network is one CUDA graph.
#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "runtime/challenge/engines/fused/fused_engines.h"
#include "runtime/challenge/engines/fused/resident_kernel.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/layer_plan.h"
#include "runtime/challenge/parallel.h"
#include "runtime/challenge/spare_memory.h"
#include "runtime/device/attribute.h"
#include "runtime/sparse/fragment_order.h"

namespace winnow::challenge {
namespace {

struct ResidentForms {
  ResidentForm full, half;
};

// In clocks of an SM, fitted to the challenge's networks of 1024 neurons on an H100. With three
// buffers tiles move while others are computed: then only a launch's first and last ones are waited
// for.
LaunchCosts launch_costs(const ResidentForm& form, std::uint32_t rows, double connections,
                         bool has_fragments, bool has_three_buffers) {
  const double bytes_per_clock =
      form.is_half && !has_fragments ? 64 : 100;  // of rows that sums read
  constexpr double kMemoryBytesPerClock = 11;     // one SM's share of the device's
  const double in_and_out = 2 * rows * static_cast<double>(form.row_bytes()) / kMemoryBytesPerClock;
  return {.images = static_cast<std::uint32_t>(form.images),
          .layer = connections * form.row_bytes() / bytes_per_clock + 1000,
          .border = has_three_buffers ? 1000 : in_and_out + 2000,
          .launch = 8000 + (has_three_buffers ? in_and_out : 0)};
}

std::size_t shared_memory(int gpu) {
  return static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
}

// The forms with the most images to a row that fit shared memory, if there are any.
std::optional<ResidentForms> fitting_forms(std::uint32_t rows, int gpu) {
  const std::size_t shared = shared_memory(gpu);
  ResidentForms forms{{false, 16}, {true, 16}};
  while (forms.full.images >= 4 && !forms.full.fits(rows, shared)) forms.full.images /= 2;
  while (forms.half.images >= 8 && !forms.half.fits(rows, shared)) forms.half.images /= 2;
  if (forms.full.images < 4 || forms.half.images < 8) return std::nullopt;
  return forms;
}

// Tensor cores are faster than FMAs with 16 images to a row, and slower with 8 (measured at 1024
// and at 4096 neurons). They need weights that two halves hold.
bool suits_tensor_cores(const Network& network, const ResidentForm& form, std::uint32_t half_from) {
  if (form.images < 16 || half_from == network.layers()) return false;
  std::atomic<bool> fits = true;
  SpareMemory<SparseLayer> spare;
  for_each_in_parallel(network.layers() - half_from, [&](std::size_t i) {
    SparseLayer layer = spare.take();
    network.read(half_from + static_cast<std::uint32_t>(i), layer);
    if (!fits_fragments(layer)) fits = false;
    spare.give(std::move(layer));
  });
  return fits;
}

class ResidentEngine : public FusedEngine {
 public:
  ResidentEngine(const Network& network, const EngineOptions& options, const ResidentForms& forms)
      : FusedEngine(network, options),
        sms_(device_attribute(cudaDevAttrMultiProcessorCount, options.gpu)),
        full_(forms.full),
        half_(forms.half) {
    const std::uint32_t half_from = first_half_layer(options, network.neurons(), network.layers());
    has_tensor_cores_ = suits_tensor_cores(network, half_, half_from);
    shortest_ = launches_ = plan_resident_launches(network.layers(), half_from);
    std::vector<ResidentLayerForm> layer_forms;
    for (const FusedLaunch& launch : launches_) {
      layer_forms.insert(layer_forms.end(), launch.last - launch.first,
                         {form_of(launch).bank_groups(), has_fragments(launch)});
    }
    weights_.emplace(network, layer_forms, ResidentSchedule{}, options.threads);
    connections_ = static_cast<double>(network.connections()) / network.layers();
  }

  std::string kernel() const override {
    std::string text = "resident fp32 x" + std::to_string(full_.images);
    if (launches_.back().is_half) text += ", fp16 x" + std::to_string(half_.images);
    if (has_fragments(launches_.back())) text += " by mma.sp.m16n8k32";
    text += ", " + std::string(fits_three(form_of(launches_.front())) ? "3" : "2") + " buffers";
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
    launches_ = shortest_;
    take(images, weights_->rows(), launches_.size() + 1);
  }

  // Joins launches between which few images die, if that is faster. How many die is only known
  // where all images run at once.
  void tune() override {
    if (images() == 0 || images_at_a_time() < images()) return;
    infer();
    std::vector<std::uint32_t> live = counts_of_run(launches_.size());
    live.front() = images();
    const std::uint32_t rows = weights_->rows();
    std::vector<FusedLaunch> joined = join_launches(
        launches_, live, static_cast<std::uint32_t>(sms_),
        launch_costs(full_, rows, connections_, false, fits_three(full_)),
        launch_costs(half_, rows, connections_, has_tensor_cores_, fits_three(half_)));
    if (joined == launches_) return;
    const double before = milliseconds();
    std::swap(launches_, joined);
    record_again();
    if (milliseconds() < before) return;
    std::swap(launches_, joined);
    record_again();
  }

 private:
  const ResidentForm& form_of(const FusedLaunch& launch) const {
    return launch.is_half ? half_ : full_;
  }

  bool has_fragments(const FusedLaunch& launch) const {
    return launch.is_half && has_tensor_cores_;
  }

  // Of activations in shared memory.
  bool fits_three(const ResidentForm& form) const {
    return form.fits(weights_->rows(), shared_memory(options().gpu), 3);
  }

  // The faster of two runs.
  double milliseconds() {
    const double first = timed([&] { infer(); });
    return std::min(first, timed([&] { infer(); }));
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
      launch.has_fragments = has_fragments(launches_[p]);
      launch.has_three_buffers = fits_three(launch.form);
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
  bool has_tensor_cores_ = false;
  ResidentForm full_, half_;
  std::vector<FusedLaunch> shortest_, launches_;  // as planned; as they run
  double connections_ = 0;                        // of a layer, on average
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
  EngineOptions chosen = options;
  // A block's launches fill the SMs that the last tiles of the other's leave idle.
  if (chosen.streams == 0) chosen.streams = 2;
  return std::make_unique<ResidentEngine>(network, chosen, *forms);
}

}  // namespace winnow::challenge
