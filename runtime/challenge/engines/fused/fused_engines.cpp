#include "runtime/challenge/engines/fused/fused_engines.h"

#include <algorithm>

#include "runtime/challenge/engines/gpu/image_batches.h"

namespace winnow::challenge {

std::uint32_t widest_rows(const Network& network) {
  std::uint32_t widest = network.neurons();
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    widest = std::max(widest, network.layer(l).outputs());
  }
  return (widest + 31) / 32 * 32;
}

std::uint32_t fused_batch_size(std::uint32_t images, std::uint32_t rows, std::size_t bytes,
                               std::uint32_t most) {
  const std::size_t per_image = std::size_t{rows} * 2 * sizeof(float) + 16;
  const std::uint32_t batch = images_per_batch(images, per_image, bytes, most);
  return batch == images ? (images + 31) / 32 * 32 : std::max(batch / 32 * 32, 32u);
}

}  // namespace winnow::challenge
