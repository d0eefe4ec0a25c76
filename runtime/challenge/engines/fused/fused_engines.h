// What the two forms of `fused` share: activations in shared memory (fused_engine.cpp), or in
// global memory where they do not fit (gather_engine.cpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/challenge/engines/gpu/graph_engine.h"

namespace winnow::challenge {

// What the images of one stream have in device memory between launches.
struct FusedBlock {
  // For at most `images` images, a multiple of 32, of `rows` values each, and `counts` counts.
  FusedBlock(std::uint32_t images, std::uint32_t rows, std::size_t counts);

  DeviceBuffer<float> activations[2];  // wide enough for fp32
  DeviceBuffer<std::uint32_t> ids[2];
  DeviceBuffer<std::uint32_t> counts;        // images after a layer or launch
  DeviceBuffer<std::uint32_t> alive, first;  // [image / 32]
  DeviceBuffer<std::uint32_t> number;        // [image]: of a live one, where it lay
};

class FusedEngine : public GraphEngine {
 protected:
  using GraphEngine::GraphEngine;

  // Gives each stream its memory and records the graphs.
  void take(const SparseImages& images, std::uint32_t rows, std::size_t counts);

  const FusedBlock& block_of(const Batch& batch) const { return blocks_[batch.block]; }

  // The first `count` counts of the last run, those of all streams together.
  std::vector<std::uint32_t> counts_of_run(std::size_t count) const;
  std::uint32_t images_at_a_time() const { return images_at_a_time_; }

 private:
  std::vector<FusedBlock> blocks_;  // [stream]
  std::uint32_t images_at_a_time_ = 0;
};

std::unique_ptr<Engine> make_gather_engine(const Network& network, const EngineOptions& options);

// The most neurons that a layer takes or gives, rounded up to whole warps.
std::uint32_t widest_rows(const Network& network);

// How many of a stream's images go through the network at a time, a multiple of 32: as many as two
// buffers of fp32 activations fit into `bytes`, and not more than `most` (rounded up) unless that
// is 0. Throws Error{device} if one image does not fit.
std::uint32_t fused_block_size(std::uint32_t images, std::uint32_t rows, std::size_t bytes,
                               std::uint32_t most);

}  // namespace winnow::challenge
