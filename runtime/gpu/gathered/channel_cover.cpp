#include "runtime/gpu/gathered/channel_cover.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace winnow {
namespace {

constexpr double kLeastGain = 0.03;
constexpr std::size_t kMostTried = 1024;  // units that are compared for every place of a group
constexpr std::size_t kWordBits = 64;

using Bits = std::vector<std::uint64_t>;

// One more than the last column that any unit keeps.
std::size_t columns_of(const std::vector<KeptColumns>& units) {
  std::size_t count = 0;
  for (const KeptColumns& unit : units) {
    if (!unit.empty()) count = std::max<std::size_t>(count, unit.back() + 1);
  }
  return count;
}

class Coverer {
 public:
  Coverer(const std::vector<KeptColumns>& units, int per_group)
      : units_(units), per_group_(static_cast<std::size_t>(per_group)) {
    words_ = (columns_of(units) + kWordBits - 1) / kWordBits;
    for (const KeptColumns& unit : units) bits_.push_back(bits_of(unit));
    left_.resize(units.size());
    std::iota(left_.begin(), left_.end(), 0);
    std::ranges::stable_sort(left_, std::greater(), [&](std::int32_t u) { return size_of(u); });
  }

  std::vector<std::int32_t> order() && {
    std::vector<std::int32_t> order;
    while (!left_.empty()) {
      Bits covered(words_, 0);
      std::size_t next = 0;  // the longest
      for (std::size_t i = 0; i < per_group_ && !left_.empty(); ++i) {
        if (i > 0) next = best_addition(covered);
        order.push_back(left_[next]);
        add(left_[next], covered);
        left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(next));
      }
    }
    return order;
  }

 private:
  Bits bits_of(const KeptColumns& unit) const {
    Bits bits(words_, 0);
    for (const std::uint32_t c : unit) bits[c / kWordBits] |= std::uint64_t{1} << c % kWordBits;
    return bits;
  }
  std::size_t size_of(std::int32_t unit) const {
    return units_[static_cast<std::size_t>(unit)].size();
  }
  void add(std::int32_t unit, Bits& covered) const {
    const Bits& bits = bits_[static_cast<std::size_t>(unit)];
    for (std::size_t w = 0; w < words_; ++w) covered[w] |= bits[w];
  }

  // Where in left_ the unit is that adds the fewest columns; of equal ones the longest.
  std::size_t best_addition(const Bits& covered) const {
    std::size_t best = 0;
    int fewest = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < std::min(left_.size(), kMostTried); ++i) {
      const Bits& bits = bits_[static_cast<std::size_t>(left_[i])];
      int added = 0;
      for (std::size_t w = 0; w < words_ && added < fewest; ++w) {
        added += std::popcount(bits[w] & ~covered[w]);
      }
      if (added >= fewest) continue;
      fewest = added;
      best = i;
      if (added == 0) break;
    }
    return best;
  }

  const std::vector<KeptColumns>& units_;
  std::size_t per_group_;
  std::size_t words_ = 0;
  std::vector<Bits> bits_;
  std::vector<std::int32_t> left_;  // units of no group yet, the longest first
};

}  // namespace

std::int64_t covered_columns(const std::vector<KeptColumns>& units,
                             const std::vector<std::int32_t>& order, int per_group) {
  const auto size = static_cast<std::size_t>(per_group);
  std::vector<std::size_t> last(columns_of(units), order.size());  // by column: group that has it
  std::int64_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t column : units[static_cast<std::size_t>(order[i])]) {
      if (last[column] == i / size) continue;
      last[column] = i / size;
      ++count;
    }
  }
  return count;
}

std::vector<std::int32_t> cover_order(const std::vector<KeptColumns>& units, int per_group) {
  std::vector<std::int32_t> plain(units.size());
  std::iota(plain.begin(), plain.end(), 0);
  if (per_group <= 1 || units.size() <= static_cast<std::size_t>(per_group)) return plain;
  std::vector<std::int32_t> order = Coverer(units, per_group).order();
  const auto before = static_cast<double>(covered_columns(units, plain, per_group));
  const auto after = static_cast<double>(covered_columns(units, order, per_group));
  return after < (1 - kLeastGain) * before ? order : plain;
}

}  // namespace winnow
