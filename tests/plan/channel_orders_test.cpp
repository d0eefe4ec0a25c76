#include "runtime/plan/channel_orders.h"

#include <doctest/doctest.h>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

using Places = std::vector<std::int32_t>;

// Channels in pairs that have changed places.
Places swapped(std::int64_t channels) {
  Places places(static_cast<std::size_t>(channels));
  for (std::size_t c = 0; c < places.size(); ++c) places[c] = static_cast<std::int32_t>(c ^ 1);
  return places;
}

}  // namespace

TEST_CASE("values of a class get their part of its order") {
  const Program program = build_program(graph_of({4, 4, 4}, {{"a", conv(4, 32, 1), {}},
                                                             {"b", conv(4, 6, 1), {"input"}},
                                                             {"ab", Concat{}, {"a", "b"}},
                                                             {"pool", Pool{}, {}},
                                                             {"out", conv(38, 2, 1), {}}}),
                                        2);
  const ChannelClasses classes = channel_classes(program);
  std::vector<Places> places;
  for (const std::int64_t channels : classes.channels) places.push_back(swapped(channels));
  const ChannelOrders orders = channel_orders(program, classes, places);
  const auto order_of = [&](const std::string& name) {
    for (std::size_t v = 0; v < program.values.size(); ++v) {
      if (program.values[v].name == name) return orders.places_of(v, program.values[v].shape[1]);
    }
    return Places();
  };
  CHECK(order_of("a") == swapped(32));
  CHECK(order_of("b") == swapped(6));
  CHECK(order_of("ab") == swapped(38));
  CHECK(order_of("input") == swapped(4));
  // input, a, b, ab with pool, out: one of each length, and the plain one.
  CHECK(orders.places.size() == 6);
  CHECK(orders.places[0].empty());
}

TEST_CASE("a part that channels of others lie in stays plain, and so does what changes nothing") {
  const Program program = build_program(graph_of({4, 4, 4}, {{"a", conv(4, 32, 1), {}},
                                                             {"b", conv(4, 32, 1), {"input"}},
                                                             {"ab", Concat{}, {"a", "b"}},
                                                             {"out", conv(64, 2, 1), {}}}),
                                        2);
  const ChannelClasses classes = channel_classes(program);
  std::vector<Places> places;
  for (const std::int64_t channels : classes.channels) {
    Places own(static_cast<std::size_t>(channels));
    for (std::size_t c = 0; c < own.size(); ++c) own[c] = static_cast<std::int32_t>(c);
    if (channels == 64) std::swap(own[0], own[40]);  // between a and b
    places.push_back(own);
  }
  const ChannelOrders orders = channel_orders(program, classes, places);
  CHECK(orders.places.size() == 2);
  int placed = 0;
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    if (orders.of_value[v] == 0) continue;
    CHECK(program.values[v].name == "ab");
    ++placed;
  }
  CHECK(placed == 1);
  CHECK(ChannelOrders{}.places_of(3, 2) == Places{0, 1});
}

}  // namespace winnow
