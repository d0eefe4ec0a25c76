#include "runtime/challenge/engines/grouped/kernels/walk.h"

#include <doctest/doctest.h>

#include <map>

namespace winnow::challenge {
namespace {

using Visits = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;  // (tile, part)

struct Case {
  std::uint32_t groups, run_parts, set_log2, blocks, tiles;
};

// Counts visits of parts of tiles that there are; runs must be whole, one part after the other.
Visits walk_all(const Case& c) {
  Visits visits;
  for (std::uint32_t block = 0; block < c.blocks; ++block) {
    const Walk walk(c.groups, c.run_parts, c.set_log2, block, c.blocks);
    for (Item item = walk.begin(); !walk.is_end(item, c.tiles);) {
      if (walk.tile(item) < c.tiles) ++visits[{walk.tile(item), walk.part(item)}];
      const Item next = walk.after(item);
      const bool goes_on = next.i == item.i + 1 && walk.tile(next) == walk.tile(item) &&
                           walk.part(next) == walk.part(item) + 1;
      CHECK(goes_on != walk.is_last_of_run(item));
      if (!goes_on) CHECK(next.i == 0);
      item = next;
    }
  }
  return visits;
}

}  // namespace

TEST_CASE("blocks take every part of every tile once") {
  for (const std::uint32_t groups : {1u, 8u, 9u, 63u, 200u}) {
    for (const std::uint32_t run_parts : {1u, 3u, 4u, 16u}) {
      for (const std::uint32_t set_log2 : {0u, 2u}) {
        for (const std::uint32_t blocks : {1u, 5u, 264u}) {
          for (const std::uint32_t tiles : {0u, 1u, 7u, 16u}) {
            CAPTURE(groups);
            CAPTURE(run_parts);
            CAPTURE(set_log2);
            CAPTURE(blocks);
            CAPTURE(tiles);
            const Visits visits = walk_all({groups, run_parts, set_log2, blocks, tiles});
            const std::uint32_t parts = (groups + kPartGroups - 1) / kPartGroups;
            CHECK(visits.size() == std::size_t{tiles} * parts);
            for (const auto& [place, count] : visits) {
              CHECK(place.second < parts);
              CHECK(count == 1);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("tiles of a set are taken part by part") {
  // Two parts a run, four tiles a set: the first blocks have the same run of different tiles.
  for (std::uint32_t block = 0; block < 8; ++block) {
    const Walk walk(32, 2, 2, block, 8);
    CHECK(walk.tile(walk.begin()) == block % 4);
    CHECK(walk.part(walk.begin()) == block / 4 * 2);
  }
}

}  // namespace winnow::challenge
