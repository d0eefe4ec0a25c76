#include "runtime/challenge/engines/grouped/kernels/tile_scheduler.h"

#include <doctest/doctest.h>

#include <map>

namespace winnow::challenge {
namespace {

using Visits = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;  // (tile, panel)

struct Case {
  std::uint32_t groups, strip_panels, set_log2, blocks, tiles;
};

// Counts visits of panels of tiles that there are; strips must be whole, one panel after the other.
Visits schedule_all(const Case& c) {
  Visits visits;
  for (std::uint32_t block = 0; block < c.blocks; ++block) {
    const TileScheduler scheduler(c.groups, c.strip_panels, c.set_log2, block, c.blocks);
    for (WorkTile work = scheduler.begin(); !scheduler.is_end(work, c.tiles);) {
      if (scheduler.tile(work) < c.tiles) ++visits[{scheduler.tile(work), scheduler.panel(work)}];
      const WorkTile next = scheduler.after(work);
      const bool goes_on = next.i == work.i + 1 && scheduler.tile(next) == scheduler.tile(work) &&
                           scheduler.panel(next) == scheduler.panel(work) + 1;
      CHECK(goes_on != scheduler.is_last_of_strip(work));
      if (!goes_on) CHECK(next.i == 0);
      work = next;
    }
  }
  return visits;
}

}  // namespace

TEST_CASE("blocks take every panel of every tile once") {
  for (const std::uint32_t groups : {1u, 8u, 9u, 63u, 200u}) {
    for (const std::uint32_t strip_panels : {1u, 3u, 4u, 16u}) {
      for (const std::uint32_t set_log2 : {0u, 2u}) {
        for (const std::uint32_t blocks : {1u, 5u, 264u}) {
          for (const std::uint32_t tiles : {0u, 1u, 7u, 16u}) {
            CAPTURE(groups);
            CAPTURE(strip_panels);
            CAPTURE(set_log2);
            CAPTURE(blocks);
            CAPTURE(tiles);
            const Visits visits = schedule_all({groups, strip_panels, set_log2, blocks, tiles});
            const std::uint32_t panels = (groups + kPanelGroups - 1) / kPanelGroups;
            CHECK(visits.size() == std::size_t{tiles} * panels);
            for (const auto& [tile_and_panel, count] : visits) {
              CHECK(tile_and_panel.second < panels);
              CHECK(count == 1);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("tiles of a set are taken panel by panel") {
  // Two panels a strip, four tiles a set: the first blocks have the same strip of different tiles.
  for (std::uint32_t block = 0; block < 8; ++block) {
    const TileScheduler scheduler(32, 2, 2, block, 8);
    CHECK(scheduler.tile(scheduler.begin()) == block % 4);
    CHECK(scheduler.panel(scheduler.begin()) == block / 4 * 2);
  }
}

}  // namespace winnow::challenge
