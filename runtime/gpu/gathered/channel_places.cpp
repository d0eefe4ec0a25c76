#include "runtime/gpu/gathered/channel_places.h"

#include <numeric>
#include <utility>

#include "runtime/base/random.h"
#include "runtime/gpu/gathered/gathered_sizes.h"

namespace winnow {
namespace {

constexpr std::int64_t kTriesPerChannel = 60;

// How many kept columns of each class every group of 16 output channels has.
class Balance {
 public:
  explicit Balance(std::vector<std::int32_t> places)
      : places_(std::move(places)), channel_at_(places_.size()), uses_(places_.size()) {
    for (std::size_t c = 0; c < places_.size(); ++c) {
      channel_at_[static_cast<std::size_t>(places_[c])] = c;
    }
  }

  void add_reader(const PlaceReader& reader) {
    const BlockCsr& weight = reader.groups->weight;
    const auto taps = static_cast<std::uint32_t>(reader.conv->kernel[0] * reader.conv->kernel[1]);
    const auto first = static_cast<std::size_t>(reader.first);
    for (std::size_t g = 0; g + 1 < weight.begin.size(); ++g, ++groups_) {
      for (auto b = weight.begin[g]; b < weight.begin[g + 1]; ++b) {
        auto& uses = uses_[first + weight.column[static_cast<std::size_t>(b)] / taps];
        if (uses.empty() || uses.back().group != groups_) uses.push_back({groups_, 0});
        ++uses.back().columns;
      }
    }
  }

  std::vector<std::int32_t> improve() && {
    counts_.assign(groups_ * kBankClasses, 0);
    for (std::size_t c = 0; c < uses_.size(); ++c) move(c, places_[c], 1);
    const std::size_t blocks = uses_.size() / kPlaceBlock;
    Random random(3);
    for (std::int64_t i = 0; blocks > 0 && i < kTriesPerChannel * std::ssize(uses_); ++i) {
      const std::size_t block = random.below(static_cast<std::uint64_t>(blocks)) * kPlaceBlock;
      try_swap(block + random.below(kPlaceBlock), block + random.below(kPlaceBlock));
    }
    return std::move(places_);
  }

 private:
  struct Use {
    std::size_t group;
    std::int64_t columns;
  };

  // Adds (sign 1) or takes (-1) a channel's columns; returns the change of the sum of squares.
  std::int64_t move(std::size_t channel, std::int32_t place, std::int64_t sign) {
    std::int64_t change = 0;
    for (const Use& use : uses_[channel]) {
      auto& count =
          counts_[use.group * kBankClasses + static_cast<std::size_t>(place % kBankClasses)];
      change -= count * count;
      count += sign * use.columns;
      change += count * count;
    }
    return change;
  }

  // The channels at two places.
  void try_swap(std::size_t first, std::size_t second) {
    std::size_t& a = channel_at_[first];
    std::size_t& b = channel_at_[second];
    std::int32_t& at_a = places_[a];
    std::int32_t& at_b = places_[b];
    if (at_a % kBankClasses == at_b % kBankClasses) return;
    const std::int64_t change =
        move(a, at_a, -1) + move(b, at_b, -1) + move(a, at_b, 1) + move(b, at_a, 1);
    if (change < 0) {
      std::swap(at_a, at_b);
      std::swap(a, b);
      return;
    }
    move(a, at_b, -1);
    move(b, at_a, -1);
    move(a, at_a, 1);
    move(b, at_b, 1);
  }

  std::vector<std::int32_t> places_;
  std::vector<std::size_t> channel_at_;  // by place
  std::vector<std::vector<Use>> uses_;   // [channels] in increasing order of groups
  std::vector<std::int64_t> counts_;     // [groups][classes]
  std::size_t groups_ = 0;
};

}  // namespace

std::vector<std::int32_t> plain_places(std::int64_t channels) {
  std::vector<std::int32_t> places(static_cast<std::size_t>(channels));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

std::vector<std::int32_t> places_of_groups(std::int64_t channels, const GatheredGroups& groups) {
  std::vector<std::int32_t> places(static_cast<std::size_t>(channels));
  std::int32_t next = 0;
  for (const std::int32_t channel : groups.place) {
    if (channel >= 0) places[static_cast<std::size_t>(channel)] = next++;
  }
  return places;
}

std::vector<std::int32_t> balanced_places(std::vector<std::int32_t> places,
                                          const std::vector<PlaceReader>& readers) {
  Balance balance(std::move(places));
  for (const PlaceReader& reader : readers) balance.add_reader(reader);
  return std::move(balance).improve();
}

}  // namespace winnow
