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

void GraphEngine::record_batches(const SparseImages& images, std::uint32_t per_batch,
                                 std::size_t words, const Packing& pack) {
  live_ = DeviceBuffer<std::uint32_t>(words);
  live_on_host_ = PinnedBuffer<std::uint32_t>(words);
  for (std::uint32_t first = 0; first < images.images(); first += per_batch) {
    batches_.push_back(batch(images, first, std::min(first + per_batch, images.images()), pack));
  }
}

GraphEngine::Batch GraphEngine::batch(const SparseImages& images, std::uint32_t first,
                                      std::uint32_t last, const Packing& pack) {
  Batch batch{.first = first, .count = last - first, .bits = {}, .size = {}, .graph = {}};
  std::vector<std::uint32_t> words = image_bits(images, first, last);
  batch.bits = winnow::upload(pack ? pack(std::move(words)) : words);
  batch.size = winnow::upload(std::vector<std::uint32_t>{batch.count});
  batch.graph = DeviceGraph::capture(stream(), [&] { record(batch); });
  return batch;
}

void GraphEngine::record(const Batch& batch) {
  CUDA_CHECK(cudaMemsetAsync(live_.get(), 0, live_.bytes(), stream()));
  enqueue(batch);
  CUDA_CHECK(cudaMemcpyAsync(live_on_host_.values().data(), live_.get(), live_.bytes(),
                             cudaMemcpyDeviceToHost, stream()));
}

Categories GraphEngine::infer() {
  Categories categories;
  for (const Batch& batch : batches_) {
    batch.graph.launch(stream());
    CUDA_CHECK(cudaStreamSynchronize(stream()));
    const std::uint32_t* words = live_on_host_.values().data();
    for (const std::uint32_t i : numbers_of_set_bits(words, (batch.count + 31) / 32)) {
      categories.push_back(batch.first + i);
    }
    report_layers(layers(), batch.first, batch.first + batch.count);
  }
  return categories;
}

}  // namespace winnow::challenge
