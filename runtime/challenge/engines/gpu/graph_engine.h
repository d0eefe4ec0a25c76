// What the engines share that run as a CUDA graph for each batch of the images: fused and grouped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/challenge/engines/gpu/gpu_engine.h"
#include "runtime/device/buffer.h"
#include "runtime/device/graph.h"

namespace winnow::challenge {

class GraphEngine : public GpuEngine {
 protected:
  // Images [first, first + count), which one graph takes through all layers.
  struct Batch {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    DeviceBuffer<std::uint32_t> bits;  // the images, as `pack` gave them
    DeviceBuffer<std::uint32_t> size;  // [1] count
    DeviceGraph graph;
  };
  // From image_bits() of a batch to what the engine's first layer reads.
  using Packing = std::function<std::vector<std::uint32_t>(std::vector<std::uint32_t> words)>;

  using GpuEngine::GpuEngine;

  // Before memory of an upload is replaced: graphs that use it are no longer wanted.
  void drop_batches() { batches_.clear(); }

  // GPU memory for the activations of a batch: what can be taken, less the bits of all `images`,
  // which record_batches() holds from one run to the next.
  std::size_t bytes_for_activations(std::uint32_t images) const;

  // Makes room for the live bits of a batch, `words` of them, then records the graph of each batch
  // of at most `per_batch` images. What enqueue() uses must be there.
  void record_batches(const SparseImages& images, std::uint32_t per_batch, std::size_t words,
                      const Packing& pack);

  Categories infer() override;

  // Puts all layers on the stream; they set the bit in live_bits(), 0 before, of each image of the
  // batch that is alive at the end.
  virtual void enqueue(const Batch& batch) = 0;
  std::uint32_t* live_bits() const { return live_.get(); }

 private:
  Batch batch(const SparseImages& images, std::uint32_t first, std::uint32_t last,
              const Packing& pack);
  void record(const Batch& batch);

  DeviceBuffer<std::uint32_t> live_;  // bit per image of a batch
  PinnedBuffer<std::uint32_t> live_on_host_;
  std::vector<Batch> batches_;
};

}  // namespace winnow::challenge
