#include "runtime/challenge/engines/gpu/layer_uploads.h"

#include <algorithm>

namespace winnow::challenge {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

int current_device() {
  int gpu = 0;
  CUDA_CHECK(cudaGetDevice(&gpu));
  return gpu;
}

}  // namespace

std::size_t chunk_bytes(std::size_t bytes, std::uint32_t layers) {
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  const std::size_t one = aligned(bytes);
  return std::max(one, std::min(one * layers, kLargest / std::max<std::size_t>(one, 1) * one));
}

std::byte* DeviceChunks::take(std::size_t bytes, std::uint32_t layers) {
  if (chunks_.empty() || chunks_.back().count() - used_ < bytes) {
    chunks_.emplace_back(chunk_bytes(bytes, layers));
    used_ = 0;
  }
  std::byte* memory = chunks_.back().get() + used_;
  used_ = std::min(used_ + aligned(bytes), chunks_.back().count());
  return memory;
}

LayerUploads::LayerUploads(std::uint32_t slots) : gpu_(current_device()), slots_(slots) {}

std::span<std::byte> LayerUploads::memory(std::uint32_t slot, std::size_t bytes) {
  PinnedBuffer<std::byte>& memory = slots_[slot];
  if (memory.values().size() < bytes) {
    CUDA_CHECK(cudaSetDevice(gpu_));
    memory = PinnedBuffer<std::byte>();                   // frees first
    memory = PinnedBuffer<std::byte>(bytes + bytes / 8);  // the next layer may be a little larger
  }
  return memory.values();
}

void LayerUploads::copy(std::uint32_t slot, std::size_t bytes, std::byte* to) const {
  const std::byte* from = slots_[slot].values().data();
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_.get()));
  stream_.synchronize();
}

}  // namespace winnow::challenge
