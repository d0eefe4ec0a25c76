// Weights of random codebooks.
#pragma once

#include "runtime/model/csr.h"
#include "tests/gpu/random_values.h"

namespace winnow {

// The kept values of `weight` as random ones of `centroids` entries, of which the first is 0 and
// stands for what is 0 in `weight`; with random factors of channels, or without.
inline CsrWeight codebook_weight(CsrWeight weight, std::size_t centroids, bool has_scale,
                                 RandomValues& random) {
  std::vector<Half> codebook = {to_half(0.0f)};
  while (codebook.size() < centroids) codebook.push_back(to_half(random.real()));
  std::vector<std::uint8_t> codes;
  for (const float value : decode(weight.values)) {
    const bool is_kept = value != 0 && centroids > 1;
    codes.push_back(is_kept ? static_cast<std::uint8_t>(1 + random.below(centroids - 1)) : 0);
  }
  weight.values = encode_codebook(Encoding::codebook4, codes, codebook);
  if (!has_scale) return weight;
  std::vector<Half> scale;
  for (std::int64_t k = 0; k < weight.channels; ++k) {
    scale.push_back(to_half(0.25f + static_cast<float>(random.below(1000)) / 500.0f));
  }
  weight.values = with_channel_scale(std::move(weight.values), scale, weight.vector);
  return weight;
}

}  // namespace winnow
