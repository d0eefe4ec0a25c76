#include "runtime/challenge/ranks/stripe_bits.h"

#include <bit>

namespace winnow::challenge {

static_assert(kStripeImages == 64, "a word has a bit for each image of a stripe");

std::uint32_t most_stripes(std::uint32_t images, std::uint32_t ranks) {
  const std::uint32_t stripes = images / kStripeImages + (images % kStripeImages > 0 ? 1 : 0);
  return stripes / ranks + (stripes % ranks > 0 ? 1 : 0);
}

std::vector<std::uint64_t> stripe_bits(const Categories& own, std::uint32_t words) {
  std::vector<std::uint64_t> bits(words);
  for (const std::uint32_t image : own) {
    bits[image / kStripeImages] |= std::uint64_t{1} << image % kStripeImages;
  }
  return bits;
}

Categories merged_categories(const std::vector<std::vector<std::uint64_t>>& bits_of_ranks) {
  Categories all;
  std::uint32_t first = 0;  // image of the stripe
  for (std::size_t w = 0; w < bits_of_ranks.front().size(); ++w) {
    for (const std::vector<std::uint64_t>& bits : bits_of_ranks) {
      for (std::uint64_t left = bits[w]; left != 0; left &= left - 1) {
        all.push_back(first + static_cast<std::uint32_t>(std::countr_zero(left)));
      }
      first += kStripeImages;
    }
  }
  return all;
}

}  // namespace winnow::challenge
