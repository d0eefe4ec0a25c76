// Orders in which the channels of values lie in memory, for layouts that leave it open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/channel_classes.h"

namespace winnow {

struct ChannelOrders {
  // By order: where channel c lies. The first is empty: every channel by itself.
  std::vector<std::vector<std::int32_t>> places = {{}};
  std::vector<int> of_value;  // by value: index into `places`

  // Where `channels` channels of a value lie, written out.
  std::vector<std::int32_t> places_of(std::size_t value, std::int64_t channels) const;
};

// Of all values, given the places of each class's channels. Values get the part that is theirs;
// equal parts are one order. Where a part is no order by itself the value keeps order 0.
ChannelOrders channel_orders(const Program& program, const ChannelClasses& classes,
                             const std::vector<std::vector<std::int32_t>>& class_places);

}  // namespace winnow
