#include "runtime/challenge/engines/fused/fused_engines.h"

#include <algorithm>

#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::size_t kSpareBytes = std::size_t{1} << 30;  // of GPU memory, left to others

}  // namespace

std::uint32_t widest_rows(const Network& network) {
  std::uint32_t widest = network.neurons();
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    widest = std::max(widest, network.layer(l).outputs());
  }
  return (widest + 31) / 32 * 32;
}

std::uint32_t fused_batch_size(std::uint32_t images, std::uint32_t neurons, std::uint32_t rows,
                               std::size_t held_bytes, std::uint32_t most) {
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  free += held_bytes;
  free = free > kSpareBytes ? free - kSpareBytes : 0;
  const std::size_t per_image = std::size_t{rows} * 2 * sizeof(float) + neurons / 8 + 16;
  const std::uint32_t batch = images_per_batch(images, per_image, free, most);
  return batch == images ? (images + 31) / 32 * 32 : std::max(batch / 32 * 32, 32u);
}

}  // namespace winnow::challenge
