#include "runtime/challenge/engines/gpu/graph_engine.h"

#include <algorithm>
#include <utility>

#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/challenge/engines/gpu/image_bits.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {

std::size_t GraphEngine::bytes_for_activations(std::uint32_t images) const {
  return bytes_beside_bits(usable_gpu_bytes(), images, neurons());
}

void GraphEngine::record_batches(const SparseImages& images, std::uint32_t at_a_time,
                                 std::size_t words, const Packing& pack) {
  words_ = words;
  live_ = DeviceBuffer<std::uint32_t>(words * streams().size());
  live_on_host_ = PinnedBuffer<std::uint32_t>(words * streams().size());
  for (std::uint32_t first = 0; first < images.images(); first += at_a_time) {
    std::vector<Batch>& round = rounds_.emplace_back();
    const auto ranges = blocks(first, std::min(first + at_a_time, images.images()));
    for (std::size_t b = 0; b < ranges.size(); ++b) {
      if (ranges[b].images() > 0) round.push_back(batch(images, ranges[b], b, pack));
    }
  }
}

GraphEngine::Batch GraphEngine::batch(const SparseImages& images, const ImageBlock& range,
                                      std::size_t block, const Packing& pack) {
  Batch batch{.first = range.first,
              .count = range.images(),
              .block = block,
              .bits = {},
              .size = {},
              .graph = {}};
  std::vector<std::uint32_t> words = image_bits(images, range.first, range.last);
  batch.bits = winnow::upload(pack ? pack(std::move(words)) : words);
  batch.size = winnow::upload(std::vector<std::uint32_t>{batch.count});
  batch.graph = DeviceGraph::capture(stream(block), [&] { record(batch); });
  return batch;
}

void GraphEngine::record_again() {
  for (std::vector<Batch>& round : rounds_) {
    for (Batch& batch : round) {
      batch.graph = DeviceGraph::capture(stream(batch.block), [&] { record(batch); });
    }
  }
}

void GraphEngine::record(const Batch& batch) {
  const std::size_t bytes = words_ * sizeof(std::uint32_t);
  CUDA_CHECK(cudaMemsetAsync(live_bits(batch.block), 0, bytes, stream(batch.block)));
  enqueue(batch);
  CUDA_CHECK(cudaMemcpyAsync(live_bits_on_host(batch.block), live_bits(batch.block), bytes,
                             cudaMemcpyDeviceToHost, stream(batch.block)));
}

Categories GraphEngine::infer() {
  Categories categories;
  for (const std::vector<Batch>& round : rounds_) {
    for (const Batch& batch : round) batch.graph.launch(stream(batch.block));
    for (const Batch& batch : round) {
      CUDA_CHECK(cudaStreamSynchronize(stream(batch.block)));
      const std::uint32_t* words = live_bits_on_host(batch.block);
      for (const std::uint32_t i : numbers_of_set_bits(words, (batch.count + 31) / 32)) {
        categories.push_back(batch.first + i);
      }
    }
    report_layers(layers(), round.front().first, round.back().first + round.back().count);
  }
  return categories;
}

}  // namespace winnow::challenge
