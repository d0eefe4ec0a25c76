#include "runtime/challenge/engines/fused/gather_layers.h"

#include <algorithm>
#include <optional>

#include "runtime/challenge/layer_stages.h"

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

// One layer on its way.
struct GatherLayers::Packed {
  SparseLayer layer;
  std::optional<GatherLayout> layout;
  std::vector<uint4> piece;

  void pack(const Network& network, std::uint32_t l) {
    network.read(l, layer);
    piece = pack_for_gather(layer, layout.emplace(layer));
  }
  void store(LayerUploads& uploads, std::uint32_t slot) const {
    std::ranges::copy(bytes(), uploads.memory(slot, bytes().size()).begin());
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(piece)); }
};

GatherLayers::GatherLayers(const Network& network, std::size_t most_bytes, int threads,
                           const std::function<void(std::uint32_t, std::uint32_t)>& loading) {
  enum Stage { kPack, kKeep, kStages };
  const bool fits = bytes_of(network) <= (most_bytes > 0 ? most_bytes : default_limit());
  const LayerStages stages{.layers = network.layers(), .stages = kStages, .threads = threads};
  std::vector<Packed> slots(stages.slots());
  LayerUploads uploads(stages.slots());
  stages.run([&](std::uint32_t stage, std::uint32_t l, std::uint32_t slot) {
    Packed& packed = slots[slot];
    if (stage == kPack) {
      packed.pack(network, l);
      if (fits) packed.store(uploads, slot);
      return;
    }
    layouts_.push_back(*packed.layout);
    if (fits) {
      resident_.push_back(memory_.take(packed.bytes().size(), network.layers() - l));
      uploads.copy(slot, packed.bytes().size(), resident_.back());
    } else {
      keep_in_host_memory(packed.piece);
    }
    if (loading) loading(l + 1, network.layers());
  });
}

void GatherLayers::keep_in_host_memory(const std::vector<uint4>& piece) {
  host_.emplace_back(piece.size());
  std::ranges::copy(piece, host_.back().values().begin());
  for (DeviceBuffer<uint4>& slot : slots_) {
    if (slot.count() < piece.size()) slot = DeviceBuffer<uint4>(piece.size());
  }
}

void GatherLayers::start(cudaStream_t stream) const {
  if (!is_streamed()) return;
  started_.record(stream);
  CUDA_CHECK(cudaStreamWaitEvent(copies_.get(), started_.get()));
  start_copy(0);
  if (host_.size() > 1) start_copy(1);
}

GatherView GatherLayers::layer(std::uint32_t l, cudaStream_t stream) const {
  if (!is_streamed()) return layouts_[l].view(reinterpret_cast<const uint4*>(resident_[l]));
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
