// The order in which a thread block takes work tiles, as two_layer_kernel and
// double_buffered_kernel do. A work tile is a panel of a tile of images: 128 outputs x 64 images.
//
// A strip is `strip_panels` consecutive panels of one tile; one block computes all of them, because
// neighbouring panels have inputs in common. Tiles come in sets of 2^set_log2, whose strips of the
// same panels are neighbours in the order, so that different blocks compute them at the same time.
// Block b of n takes the strips b, b + n, b + 2 n, ... of all sets.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/layout/group_panels.h"
#include "runtime/device/host_device.h"

namespace winnow::challenge {

// Panel `i` of a strip of a set of tiles; `strip` counts the strips of all tiles of the set.
struct WorkTile {
  std::uint32_t set, strip, i;
};

// The work tiles of one block.
class TileScheduler {
 public:
  // `groups` of the layer. A tile's last strip is short if the panels do not divide evenly.
  WINNOW_HOST_DEVICE TileScheduler(std::uint32_t groups, std::uint32_t strip_panels,
                                   std::uint32_t set_log2, std::uint32_t block,
                                   std::uint32_t blocks)
      : panels_((groups + kPanelGroups - 1) / kPanelGroups),
        strip_panels_(strip_panels),
        set_log2_(set_log2),
        strips_((panels_ + strip_panels - 1) / strip_panels << set_log2),
        block_(block),
        step_sets_(blocks / strips_),
        step_strips_(blocks % strips_) {}

  WINNOW_HOST_DEVICE WorkTile begin() const { return {block_ / strips_, block_ % strips_, 0}; }
  WINNOW_HOST_DEVICE bool is_end(const WorkTile& work, std::uint32_t tiles) const {
    return work.set << set_log2_ >= tiles;
  }
  // The tile of images. In the last set it may be beyond the last tile: then there is nothing to
  // do.
  WINNOW_HOST_DEVICE std::uint32_t tile(const WorkTile& work) const {
    return (work.set << set_log2_) + (work.strip & ((1u << set_log2_) - 1));
  }
  WINNOW_HOST_DEVICE std::uint32_t panel(const WorkTile& work) const {
    return (work.strip >> set_log2_) * strip_panels_ + work.i;
  }
  WINNOW_HOST_DEVICE bool is_last_of_strip(const WorkTile& work) const {
    return work.i + 1 == strip_panels_ || panel(work) + 1 == panels_;
  }
  WINNOW_HOST_DEVICE WorkTile after(const WorkTile& work) const {
    if (!is_last_of_strip(work)) return {work.set, work.strip, work.i + 1};
    const std::uint32_t strip = work.strip + step_strips_, wraps = strip >= strips_ ? 1 : 0;
    return {work.set + step_sets_ + wraps, wraps != 0 ? strip - strips_ : strip, 0};
  }

 private:
  std::uint32_t panels_;        // of a tile
  std::uint32_t strip_panels_;  // of a strip
  std::uint32_t set_log2_;
  std::uint32_t strips_;  // strips of a set
  std::uint32_t block_, step_sets_, step_strips_;
};

}  // namespace winnow::challenge
