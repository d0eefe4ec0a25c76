// Some images of a set.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/images/image_set.h"

namespace winnow {

// Keeps the images i with is_kept[i], in their order and in place: a set may fill most of the
// memory. Requires is_kept.size() == set.count.
void keep_images(ImageSet& set, const std::vector<bool>& is_kept);

// What every option and key called `limit` means: keeps the images at floor(i n / limit) for
// i = 0 .. limit - 1, n = set.count, so that files sorted by class keep all classes; all images if
// n <= limit. Requires limit >= 1.
void thin_out(ImageSet& set, std::int64_t limit);

}  // namespace winnow
