#include "runtime/challenge/engines/fused/fused_engines.h"

#include <algorithm>

#include "runtime/challenge/engines/gpu/image_batches.h"

namespace winnow::challenge {

FusedBlock::FusedBlock(std::uint32_t images, std::uint32_t rows, std::size_t count)
    : counts(count), alive(images / 32), first(images / 32), number(images) {
  for (auto& buffer : activations) buffer = DeviceBuffer<float>(std::size_t{rows} * images);
  for (auto& buffer : ids) buffer = DeviceBuffer<std::uint32_t>(images);
}

void FusedEngine::take(const SparseImages& images, std::uint32_t rows, std::size_t counts) {
  drop_batches();
  blocks_.clear();  // frees first
  const auto count = static_cast<std::uint32_t>(streams().size());
  const std::uint32_t block = fused_block_size(largest_block(images.images(), count), rows,
                                               bytes_for_activations(images.images()) / count,
                                               largest_block(options().images_at_once, count));
  for (std::uint32_t b = 0; b < count; ++b) blocks_.emplace_back(block, rows, counts);
  images_at_a_time_ = block * count;
  record_batches(images, images_at_a_time_, block / 32, nullptr);
}

std::vector<std::uint32_t> FusedEngine::counts_of_run(std::size_t count) const {
  std::vector<std::uint32_t> sum(count);
  for (const FusedBlock& block : blocks_) {
    std::vector<std::uint32_t> counts(count);
    CUDA_CHECK(cudaMemcpy(counts.data(), block.counts.get(), count * sizeof(std::uint32_t),
                          cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i) sum[i] += counts[i];
  }
  return sum;
}

std::uint32_t widest_rows(const Network& network) {
  std::uint32_t widest = network.neurons();
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    widest = std::max(widest, network.shape(l).outputs);
  }
  return (widest + 31) / 32 * 32;
}

std::uint32_t fused_block_size(std::uint32_t images, std::uint32_t rows, std::size_t bytes,
                               std::uint32_t most) {
  const std::size_t per_image = std::size_t{rows} * 2 * sizeof(float) + 20;
  const std::uint32_t size = images_per_batch(images, per_image, bytes, most);
  const std::uint32_t rounded = (size + 31) / 32 * 32;
  if (size == images && rounded * per_image <= bytes) return rounded;
  return std::max(size / 32 * 32, 32u);
}

}  // namespace winnow::challenge
