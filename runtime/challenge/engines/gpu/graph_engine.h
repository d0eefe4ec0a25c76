// What the engines share that run as CUDA graphs, one for each block of each batch of the images:
// fused and grouped.
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
  // Images [first, first + count), which one graph takes through all layers. The images that run at
  // the same time are one batch for each stream.
  struct Batch {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::size_t block = 0;             // it runs on stream(block)
    DeviceBuffer<std::uint32_t> bits;  // the images, as `pack` gave them
    DeviceBuffer<std::uint32_t> size;  // [1] count
    DeviceGraph graph;
  };
  // From image_bits() of a batch to what the engine's first layer reads.
  using Packing = std::function<std::vector<std::uint32_t>(std::vector<std::uint32_t> words)>;

  using GpuEngine::GpuEngine;

  // Before memory of an upload is replaced: graphs that use it are no longer wanted.
  void drop_batches() { rounds_.clear(); }

  // GPU memory for the activations of a batch: what can be taken, less the bits of all `images`,
  // which record_batches() holds from one run to the next.
  std::size_t bytes_for_activations(std::uint32_t images) const;

  // Makes room for the live bits of a batch for each stream, `words` of them, then records the
  // graph of each batch; at most `at_a_time` images, nearly equally many on each stream, run at the
  // same time. What enqueue() uses must be there.
  void record_batches(const SparseImages& images, std::uint32_t at_a_time, std::size_t words,
                      const Packing& pack);

  // Records the graphs of the same batches again: enqueue() goes another way now.
  void record_again();

  Categories infer() override;

  // Puts all layers on the batch's stream; they set the bit in live_bits(), 0 before, of each image
  // of the batch that is alive at the end.
  virtual void enqueue(const Batch& batch) = 0;
  std::uint32_t* live_bits(std::size_t block = 0) const { return live_.get() + block * words_; }

 private:
  Batch batch(const SparseImages& images, const ImageBlock& range, std::size_t block,
              const Packing& pack);
  void record(const Batch& batch);
  std::uint32_t* live_bits_on_host(std::size_t block) const {
    return live_on_host_.values().data() + block * words_;
  }

  std::size_t words_ = 0;             // of a block
  DeviceBuffer<std::uint32_t> live_;  // [block][words_] bit per image of a batch
  PinnedBuffer<std::uint32_t> live_on_host_;
  std::vector<std::vector<Batch>> rounds_;  // what runs at the same time, none empty
};

}  // namespace winnow::challenge
