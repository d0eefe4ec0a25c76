// Which groups of the layer before a panel reads, as two_layer_kernel has to know it.
#pragma once

#include <cstdint>

#include "runtime/device/host_device.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kMostPanelReads = 16;  // groups of the layer before

// What two_layer_kernel must know of a panel, in 32 bits. The groups of the layer before that the
// panel reads are numbered from 0, in the order of panel_row.
//
//   groups      how many there are
//   is_carried  whether the panel before reads one of them too; its values are then copied
//   here        the number of that group in this panel
//   there       its number in the panel before
//
// At most one group is carried, even where two panels have more in common.
struct PanelReads {
  static constexpr std::uint32_t kIsCarried = 1u << 24;

  std::uint32_t bits = 0;  // groups | here << 8 | there << 16 | kIsCarried

  WINNOW_HOST_DEVICE std::uint32_t groups() const { return bits & 0xff; }
  WINNOW_HOST_DEVICE bool is_carried() const { return (bits & kIsCarried) != 0; }
  WINNOW_HOST_DEVICE std::uint32_t here() const { return bits >> 8 & 0xff; }
  WINNOW_HOST_DEVICE std::uint32_t there() const { return bits >> 16 & 0xff; }
};

// An entry of panel_group: a group of the layer before, and its number in the panel that reads it.
WINNOW_HOST_DEVICE constexpr std::uint32_t panel_group_entry(std::uint32_t group,
                                                             std::uint32_t number) {
  return group | number << 24;
}
WINNOW_HOST_DEVICE constexpr std::uint32_t group_of_entry(std::uint32_t entry) {
  return entry & 0xffffff;
}
WINNOW_HOST_DEVICE constexpr std::uint32_t number_of_entry(std::uint32_t entry) {
  return entry >> 24;
}

}  // namespace winnow::challenge
