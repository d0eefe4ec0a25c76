#include "runtime/challenge/engines/fused/gather_layers.h"

#include <algorithm>

namespace winnow::challenge {
namespace {

// About as many as pack_for_gather needs.
std::size_t bytes_of(const Network& network) {
  constexpr std::size_t kPerConnection = 8;
  return (static_cast<std::size_t>(network.connections()) + 1) * kPerConnection;
}

std::size_t default_limit() {
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free / 4 * 3;
}

}  // namespace

GatherLayers::GatherLayers(const Network& network, std::size_t most_bytes) {
  const bool fits = bytes_of(network) <= (most_bytes > 0 ? most_bytes : default_limit());
  std::size_t largest = 0;  // uint4s of a layer
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    const SparseLayer layer = network.layer(l);
    const GatherLayout& layout = layouts_.emplace_back(layer);
    const std::vector<uint4> piece = pack_for_gather(layer, layout);
    largest = std::max(largest, piece.size());
    if (fits) {
      resident_.push_back(upload(piece));
    } else {
      host_.emplace_back(piece.size());
      std::ranges::copy(piece, host_.back().values().begin());
    }
  }
  if (fits) return;
  for (DeviceBuffer<uint4>& slot : slots_) slot = DeviceBuffer<uint4>(largest);
}

void GatherLayers::start(cudaStream_t stream) const {
  if (!is_streamed()) return;
  started_.record(stream);
  CUDA_CHECK(cudaStreamWaitEvent(copies_.get(), started_.get()));
  start_copy(0);
  if (host_.size() > 1) start_copy(1);
}

GatherView GatherLayers::layer(std::uint32_t l, cudaStream_t stream) const {
  if (!is_streamed()) return layouts_[l].view(resident_[l].get());
  CUDA_CHECK(cudaStreamWaitEvent(stream, copied_[l % 2].get()));
  return layouts_[l].view(slots_[l % 2].get());
}

void GatherLayers::done(std::uint32_t l, cudaStream_t stream) const {
  if (!is_streamed() || l + 2 >= host_.size()) return;
  used_[l % 2].record(stream);
  CUDA_CHECK(cudaStreamWaitEvent(copies_.get(), used_[l % 2].get()));
  start_copy(l + 2);
}

void GatherLayers::start_copy(std::uint32_t l) const {
  const std::span<uint4> from = host_[l].values();
  CUDA_CHECK(cudaMemcpyAsync(slots_[l % 2].get(), from.data(), from.size_bytes(),
                             cudaMemcpyHostToDevice, copies_.get()));
  copied_[l % 2].record(copies_.get());
}

}  // namespace winnow::challenge
