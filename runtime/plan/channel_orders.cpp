#include "runtime/plan/channel_orders.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace winnow {
namespace {

using Places = std::vector<std::int32_t>;

Places plain(std::int64_t channels) {
  Places places(static_cast<std::size_t>(channels));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

// Channels [first, first + count) counted from the first; empty if others lie between them, or if
// every channel lies by itself.
Places part_of(const Places& all, std::int64_t first, std::int64_t count) {
  Places part(all.begin() + first, all.begin() + first + count);
  for (std::int32_t& place : part) place -= static_cast<std::int32_t>(first);
  Places sorted = part;
  std::ranges::sort(sorted);
  const Places own = plain(count);
  return sorted != own || part == own ? Places() : part;
}

}  // namespace

std::vector<std::int32_t> ChannelOrders::places_of(std::size_t value, std::int64_t channels) const {
  const int order = value < of_value.size() ? of_value[value] : 0;
  return order == 0 ? plain(channels) : places[static_cast<std::size_t>(order)];
}

ChannelOrders channel_orders(const Program& program, const ChannelClasses& classes,
                             const std::vector<std::vector<std::int32_t>>& class_places) {
  ChannelOrders orders;
  std::map<Places, int> known = {{{}, 0}};
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const Places& all = class_places[classes.class_of[v]];
    const Places part = part_of(all, classes.first[v], program.values[v].shape[1]);
    const auto [found, is_new] = known.emplace(part, static_cast<int>(orders.places.size()));
    if (is_new) orders.places.push_back(part);
    orders.of_value.push_back(found->second);
  }
  return orders;
}

}  // namespace winnow
