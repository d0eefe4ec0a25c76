// The order in which a block of the pair and staged kernels takes parts of tiles.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/gpu/host_device.h"
#include "runtime/challenge/engines/grouped/group_parts.h"

namespace winnow::challenge {

// Part `i` of a run of parts of a tile. Tiles come in sets; `place` counts the runs of a set, those
// of the same parts of its tiles together.
struct Item {
  std::uint32_t set, place, i;
};

// Every `blocks`-th run of all tiles, from run `block` on.
class Walk {
 public:
  // Runs have `run_parts` parts but for a tile's last, which may be short; sets have 2^set_log2
  // tiles.
  WINNOW_HOST_DEVICE Walk(std::uint32_t groups, std::uint32_t run_parts, std::uint32_t set_log2,
                          std::uint32_t block, std::uint32_t blocks)
      : parts_((groups + kPartGroups - 1) / kPartGroups),
        run_parts_(run_parts),
        set_log2_(set_log2),
        places_((parts_ + run_parts - 1) / run_parts << set_log2),
        block_(block),
        step_sets_(blocks / places_),
        step_places_(blocks % places_) {}

  WINNOW_HOST_DEVICE Item begin() const { return {block_ / places_, block_ % places_, 0}; }
  WINNOW_HOST_DEVICE bool is_end(const Item& item, std::uint32_t tiles) const {
    return item.set << set_log2_ >= tiles;
  }
  // May be beyond the last one in the last set.
  WINNOW_HOST_DEVICE std::uint32_t tile(const Item& item) const {
    return (item.set << set_log2_) + (item.place & ((1u << set_log2_) - 1));
  }
  WINNOW_HOST_DEVICE std::uint32_t part(const Item& item) const {
    return (item.place >> set_log2_) * run_parts_ + item.i;
  }
  WINNOW_HOST_DEVICE bool is_last_of_run(const Item& item) const {
    return item.i + 1 == run_parts_ || part(item) + 1 == parts_;
  }
  WINNOW_HOST_DEVICE Item after(const Item& item) const {
    if (!is_last_of_run(item)) return {item.set, item.place, item.i + 1};
    const std::uint32_t place = item.place + step_places_, wraps = place >= places_ ? 1 : 0;
    return {item.set + step_sets_ + wraps, wraps != 0 ? place - places_ : place, 0};
  }

 private:
  std::uint32_t parts_, run_parts_, set_log2_, places_;  // of a tile, of a run, -, of a set
  std::uint32_t block_, step_sets_, step_places_;
};

}  // namespace winnow::challenge
