// `fused` for layers whose activations do not fit shared memory: one launch a layer, dead images
// dropped on the device after it, the whole network one CUDA graph.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/challenge/engines/fused/fused_engines.h"
#include "runtime/challenge/engines/fused/gather_kernel.h"
#include "runtime/challenge/engines/fused/gather_layers.h"
#include "runtime/challenge/engines/gpu/layer_plan.h"
#include "runtime/device/attribute.h"

namespace winnow::challenge {
namespace {

class GatherEngine : public FusedEngine {
 public:
  GatherEngine(const Network& network, const EngineOptions& options)
      : FusedEngine(network, options),
        sms_(device_attribute(cudaDevAttrMultiProcessorCount, options.gpu)),
        rows_(widest_rows(network)),
        half_from_(first_half_layer(options, network.neurons(), network.layers())),
        weights_(network, options.weight_bytes, options.threads, options.loading) {
    if (weights_.is_streamed() && streams().size() > 1) {
      fail(ErrorCode::device, "engine fused: GPU memory does not hold the weights, which ",
           streams().size(), " streams share; with one stream they may come from host memory");
    }
  }

  std::string kernel() const override {
    std::string text = "gathered rows of 32 images, fp32";
    if (half_from_ < layers()) text += ", fp16 from layer " + std::to_string(half_from_);
    if (weights_.is_streamed()) text += ", weights streamed from host memory";
    return text + ", one launch a layer in one graph" + in_batches(images_at_a_time());
  }
  std::string discovery() const override {
    char text[64];
    std::snprintf(text, sizeof(text), "%.0f %% of the outputs in fours that share their inputs",
                  100 * weights_.share_in_quads());
    return text;
  }

 protected:
  void upload(const SparseImages& images) override {
    take(images, rows_, std::size_t{layers()} + 1);
  }

 private:
  void enqueue(const Batch& batch) override {
    const FusedBlock& block = block_of(batch);
    const cudaStream_t on = stream(batch.block);
    const std::uint32_t* count = batch.size.get();
    const std::uint32_t* id = nullptr;
    int current = 0;  // the buffer that holds the activations
    weights_.start(on);
    for (std::uint32_t l = 0; l < layers(); ++l) {
      const bool drops = gathered_drops_at(l + 1, layers(), half_from_);
      if (drops) CUDA_CHECK(cudaMemsetAsync(block.alive.get(), 0, block.alive.bytes(), on));
      GatherLaunch launch;
      launch.weights = weights_.layer(l, on);
      launch.is_half = l >= half_from_;
      launch.bits = l == 0 ? batch.bits.get() : nullptr;
      launch.in = block.activations[current].get();
      launch.out = block.activations[1 - current].get();
      launch.rows = rows_;
      launch.count = count;
      launch.alive = drops ? block.alive.get() : nullptr;
      launch_gather(launch, sms_, on);
      weights_.done(l, on);
      if (!drops) {
        current = 1 - current;
        continue;
      }
      std::uint32_t* kept_id = (id == block.ids[0].get() ? block.ids[1] : block.ids[0]).get();
      drop_dead(batch, l, current, launch.weights.outputs, count, id, kept_id);
      count = block.counts.get() + l;  // images that leave the layer
      id = kept_id;
    }
  }

  // From the buffer that layer l wrote back to `current`.
  void drop_dead(const Batch& batch, std::uint32_t l, int current, std::uint32_t outputs,
                 const std::uint32_t* count, const std::uint32_t* id, std::uint32_t* kept_id) {
    const FusedBlock& block = block_of(batch);
    const bool is_last = l + 1 == layers();
    GatherCompaction compaction;
    compaction.in = block.activations[1 - current].get();
    compaction.out = is_last ? nullptr : block.activations[current].get();
    compaction.in_half = l >= half_from_;
    compaction.out_half = l + 1 >= half_from_;
    compaction.rows = rows_;
    compaction.used_rows = outputs;
    compaction.places.alive = block.alive.get();
    compaction.places.in_count = count;
    compaction.places.in_id = id;
    compaction.places.first = block.first.get();
    compaction.places.out_count = block.counts.get() + l;
    compaction.places.out_id = kept_id;
    compaction.places.out_number = is_last ? nullptr : block.number.get();
    compaction.places.live_bits = is_last ? live_bits(batch.block) : nullptr;
    launch_compaction(compaction, sms_, stream(batch.block));
  }

  int sms_;
  std::uint32_t rows_;
  std::uint32_t half_from_;
  GatherLayers weights_;
};

}  // namespace

std::unique_ptr<Engine> make_gather_engine(const Network& network, const EngineOptions& options) {
  return std::make_unique<GatherEngine>(network, options);
}

}  // namespace winnow::challenge
