// Where the channels of an activation lie among those of their block of 16. Pure host code.
//
// A batch reads its rows without bank conflicts if their places differ mod 8. Kept columns are
// spread unevenly over the channels, so that some of the eight classes have more of them than
// others; channels may change places to even that out. The layer before writes them there.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/gpu/gathered/gathered_groups.h"

namespace winnow {

inline constexpr int kPlaceBlock = 16;

// [channels] place of each channel: every channel by itself.
std::vector<std::int32_t> plain_places(std::int64_t channels);

// A layer that reads the activation: its input channel 0 is channel `first`.
struct PlaceReader {
  const GatheredGroups* groups = nullptr;
  const Conv* conv = nullptr;
  std::int64_t first = 0;
};

// [channels] places in the order of a layer's groups, which writes 16 channels beside each other.
std::vector<std::int32_t> places_of_groups(std::int64_t channels, const GatheredGroups& groups);

// [channels] places that even out the classes of all groups of all layers that read the activation:
// `places` with channels exchanged within their blocks. Depends on the arguments alone. A last
// block of fewer channels stays as it is.
std::vector<std::int32_t> balanced_places(std::vector<std::int32_t> places,
                                          const std::vector<PlaceReader>& readers);

}  // namespace winnow
