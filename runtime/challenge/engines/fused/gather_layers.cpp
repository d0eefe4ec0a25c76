#include "runtime/challenge/engines/fused/gather_layers.h"

#include <algorithm>
#include <optional>

#include "runtime/challenge/equal_inputs.h"
#include "runtime/challenge/layer_stages.h"
#include "runtime/challenge/spare_memory.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kPack = 0, kStages = 2;  // then the layer is copied

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

// Outputs that read the same inputs in quads as far as they go, then all that is left.
GatherOrder quads_first(const OutputSets& sets) {
  GatherOrder order;
  std::vector<std::uint32_t> single;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto set = sets[s];
    const auto in_quads = static_cast<std::uint32_t>(set.size() / kQuad * kQuad);
    order.output.insert(order.output.end(), set.begin(), set.begin() + in_quads);
    single.insert(single.end(), set.begin() + in_quads, set.end());
  }
  order.quads = static_cast<std::uint32_t>(order.output.size()) / kQuad;
  order.output.insert(order.output.end(), single.begin(), single.end());
  return order;
}

// One layer on its way.
struct GatherLayers::Packed {
  std::optional<GatherLayout> layout;
  std::vector<uint4> piece;  // none once it is stored

  std::size_t bytes() const { return layout->size() * sizeof(uint4); }

  void pack(const Network& network, std::uint32_t l, SpareMemory<SparseLayer>& spare) {
    SparseLayer layer = spare.take();
    network.read(l, layer);
    const GatherOrder order = quads_first(find_equal_inputs(layer));
    piece = pack_for_gather(layer, layout.emplace(layer, order), order);
    spare.give(std::move(layer));
  }
  void store(std::span<std::byte> memory) {
    std::ranges::copy(std::as_bytes(std::span(piece)), memory.begin());
    piece = {};
  }
};

GatherLayers::GatherLayers(const Network& network, std::size_t most_bytes, int threads,
                           const std::function<void(std::uint32_t, std::uint32_t)>& loading) {
  const bool fits = bytes_of(network) <= (most_bytes > 0 ? most_bytes : default_limit());
  const LayerStages stages{.layers = network.layers(), .stages = kStages, .threads = threads};
  std::vector<Packed> slots(stages.slots());
  LayerUploads uploads(stages.slots());
  SpareMemory<SparseLayer> spare;
  stages.run([&](std::uint32_t stage, std::uint32_t l, std::uint32_t slot) {
    Packed& packed = slots[slot];
    if (stage == kPack) {
      packed.pack(network, l, spare);
      if (fits) packed.store(uploads.memory(slot, packed.bytes()));
      return;
    }
    layouts_.push_back(*packed.layout);
    const GatherView view = layouts_.back().view(nullptr);
    in_quads_ += std::uint64_t{kQuad} * view.quads;
    outputs_ += view.outputs;
    if (fits) {
      resident_.push_back(memory_.take(packed.bytes(), network.layers() - l));
      uploads.copy(slot, packed.bytes(), resident_.back());
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
