// `fused` for layers whose activations do not fit shared memory: one launch a layer, dead images
// dropped on the device after it, the whole network one CUDA graph.
#include <algorithm>
#include <vector>

#include "runtime/challenge/engines/fused/fused_engines.h"
#include "runtime/challenge/engines/fused/gather_kernel.h"
#include "runtime/challenge/engines/fused/gather_layers.h"
#include "runtime/challenge/engines/gpu/graph_engine.h"
#include "runtime/challenge/engines/gpu/layer_plan.h"
#include "runtime/device/attribute.h"

namespace winnow::challenge {
namespace {

class GatherEngine : public GraphEngine {
 public:
  GatherEngine(const Network& network, const EngineOptions& options)
      : GraphEngine(network, options),
        sms_(device_attribute(cudaDevAttrMultiProcessorCount, options.gpu)),
        rows_(widest_rows(network)),
        half_from_(first_half_layer(options, network.neurons(), network.layers())),
        weights_(network, options.weight_bytes) {
    counts_ = DeviceBuffer<std::uint32_t>(std::size_t{network.layers()} + 1);
  }

  std::string kernel() const override {
    std::string text = "gathered rows of 32 images, fp32";
    if (half_from_ < layers()) text += ", fp16 from layer " + std::to_string(half_from_);
    if (weights_.is_streamed()) text += ", weights streamed from host memory";
    return text + ", one launch a layer in one graph" + in_batches(per_batch_);
  }

 protected:
  void upload(const SparseImages& images) override {
    drop_batches();
    for (DeviceBuffer<float>& buffer : activations_) buffer = DeviceBuffer<float>();  // frees first
    per_batch_ = fused_batch_size(images.images(), rows_, bytes_for_activations(images.images()),
                                  options().images_at_once);
    for (DeviceBuffer<float>& buffer : activations_) {
      buffer = DeviceBuffer<float>(std::size_t{rows_} * per_batch_);
    }
    for (auto& ids : ids_) ids = DeviceBuffer<std::uint32_t>(per_batch_);
    for (auto* words : {&alive_, &first_}) {
      *words = DeviceBuffer<std::uint32_t>(per_batch_ / 32);
    }
    record_batches(images, per_batch_, per_batch_ / 32, nullptr);
  }

 private:
  void enqueue(const Batch& batch) override {
    const std::uint32_t* count = batch.size.get();
    const std::uint32_t* id = nullptr;
    int current = 0;  // the buffer that holds the activations
    weights_.start(stream());
    for (std::uint32_t l = 0; l < layers(); ++l) {
      const bool drops = gathered_drops_at(l + 1, layers(), half_from_);
      if (drops) CUDA_CHECK(cudaMemsetAsync(alive_.get(), 0, alive_.bytes(), stream()));
      GatherLaunch launch;
      launch.weights = weights_.layer(l, stream());
      launch.is_half = l >= half_from_;
      launch.bits = l == 0 ? batch.bits.get() : nullptr;
      launch.in = activations_[current].get();
      launch.out = activations_[1 - current].get();
      launch.rows = rows_;
      launch.count = count;
      launch.alive = drops ? alive_.get() : nullptr;
      launch_gather(launch, sms_, stream());
      weights_.done(l, stream());
      if (!drops) {
        current = 1 - current;
        continue;
      }
      std::uint32_t* kept_id = (id == ids_[0].get() ? ids_[1] : ids_[0]).get();
      drop_dead(l, current, launch.weights.outputs, count, id, kept_id);
      count = counts_.get() + l;
      id = kept_id;
    }
  }

  // From the buffer that layer l wrote back to `current`.
  void drop_dead(std::uint32_t l, int current, std::uint32_t outputs, const std::uint32_t* count,
                 const std::uint32_t* id, std::uint32_t* kept_id) {
    const bool is_last = l + 1 == layers();
    GatherCompaction compaction;
    compaction.in = activations_[1 - current].get();
    compaction.out = is_last ? nullptr : activations_[current].get();
    compaction.in_half = l >= half_from_;
    compaction.out_half = l + 1 >= half_from_;
    compaction.rows = rows_;
    compaction.used_rows = outputs;
    compaction.places.alive = alive_.get();
    compaction.places.in_count = count;
    compaction.places.in_id = id;
    compaction.places.first = first_.get();
    compaction.places.out_count = counts_.get() + l;
    compaction.places.out_id = kept_id;
    compaction.places.live_bits = is_last ? live_bits() : nullptr;
    launch_compaction(compaction, sms_, stream());
  }

  int sms_;
  std::uint32_t rows_;
  std::uint32_t half_from_;
  std::uint32_t per_batch_ = 0;
  GatherLayers weights_;
  DeviceBuffer<float> activations_[2];  // wide enough for fp32
  DeviceBuffer<std::uint32_t> ids_[2];
  DeviceBuffer<std::uint32_t> counts_;  // [layer]: images that leave it
  DeviceBuffer<std::uint32_t> alive_, first_;
};

}  // namespace

std::unique_ptr<Engine> make_gather_engine(const Network& network, const EngineOptions& options) {
  return std::make_unique<GatherEngine>(network, options);
}

}  // namespace winnow::challenge
