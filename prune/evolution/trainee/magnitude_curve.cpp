#include "prune/evolution/trainee/magnitude_curve.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

double squares_of(const MagnitudeCurve& curve, std::int64_t kept) {
  const auto at = std::ranges::lower_bound(curve.ranks, kept - 1);
  if (at == curve.ranks.end()) return curve.squares.back();
  const auto i = static_cast<std::size_t>(at - curve.ranks.begin());
  if (*at == kept - 1 || i == 0) return curve.squares[i];
  const double share = static_cast<double>(kept - 1 - curve.ranks[i - 1]) /
                       static_cast<double>(curve.ranks[i] - curve.ranks[i - 1]);
  return curve.squares[i - 1] + share * (curve.squares[i] - curve.squares[i - 1]);
}

}  // namespace

double loss_of(const MagnitudeCurve& curve, std::int64_t kept) {
  const double some = squares_of(curve, kept), all = curve.squares.back();
  return some > 0.0 ? std::log(all / some) : 0.0;
}

std::vector<std::int64_t> curve_ranks(std::int64_t blocks) {
  constexpr std::int64_t kPerDoubling = 128;
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < blocks; rank += 1 + rank / kPerDoubling) ranks.push_back(rank);
  if (blocks > 0 && ranks.back() != blocks - 1) ranks.push_back(blocks - 1);
  return ranks;
}

}  // namespace winnow
