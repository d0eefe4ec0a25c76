#include "runtime/challenge/engines/gpu/graph_engine.h"

#include <algorithm>
#include <utility>

#include "runtime/challenge/engines/gpu/image_bits.h"

namespace winnow::challenge {

void GraphEngine::record_parts(const SparseImages& images, std::uint32_t per_part,
                               std::size_t words, const Packing& pack) {
  live_ = DeviceBuffer<std::uint32_t>(words);
  live_on_host_ = PinnedBuffer<std::uint32_t>(words);
  for (std::uint32_t first = 0; first < images.images(); first += per_part) {
    parts_.push_back(part(images, first, std::min(first + per_part, images.images()), pack));
  }
}

GraphEngine::Part GraphEngine::part(const SparseImages& images, std::uint32_t first,
                                    std::uint32_t last, const Packing& pack) {
  Part part{.first = first, .count = last - first, .bits = {}, .size = {}, .graph = {}};
  std::vector<std::uint32_t> words = image_bits(images, first, last);
  part.bits = winnow::upload(pack ? pack(std::move(words)) : words);
  part.size = winnow::upload(std::vector<std::uint32_t>{part.count});
  part.graph = DeviceGraph::capture(stream(), [&] { record(part); });
  return part;
}

void GraphEngine::record(const Part& part) {
  CUDA_CHECK(cudaMemsetAsync(live_.get(), 0, live_.bytes(), stream()));
  enqueue(part);
  CUDA_CHECK(cudaMemcpyAsync(live_on_host_.values().data(), live_.get(), live_.bytes(),
                             cudaMemcpyDeviceToHost, stream()));
}

Categories GraphEngine::infer() {
  Categories categories;
  for (const Part& part : parts_) {
    part.graph.launch(stream());
    CUDA_CHECK(cudaStreamSynchronize(stream()));
    const std::uint32_t* words = live_on_host_.values().data();
    for (const std::uint32_t i : set_bits(words, (part.count + 31) / 32)) {
      categories.push_back(part.first + i);
    }
    report_layers(layers(), part.first, part.first + part.count);
  }
  return categories;
}

}  // namespace winnow::challenge
