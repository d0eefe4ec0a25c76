// Parts of an image set, and what is measured over one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

// Which `count` of `samples` samples, chosen uniformly by `seed`, are held out.
std::vector<bool> held_out_members(std::int64_t samples, std::int64_t count, std::uint64_t seed);

// Moves `count` images, chosen uniformly by `seed`, out of `set`; both parts stay in file order.
// Requires 0 <= count <= set.count.
ImageSet hold_out(ImageSet& set, std::int64_t count, std::uint64_t seed);

// Mean and population deviation of byte / 255, per channel, from exact integer sums. The deviation
// of a constant channel counts as 1.
Preprocessing measure_channels(const ImageSet& set);

}  // namespace winnow
