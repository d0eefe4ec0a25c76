#include "prune/evolution/magnitude_curve.h"

namespace winnow {

std::vector<std::int64_t> curve_ranks(std::int64_t blocks) {
  constexpr std::int64_t kPerDoubling = 128;
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < blocks; rank += 1 + rank / kPerDoubling) ranks.push_back(rank);
  if (blocks > 0 && ranks.back() != blocks - 1) ranks.push_back(blocks - 1);
  return ranks;
}

}  // namespace winnow
