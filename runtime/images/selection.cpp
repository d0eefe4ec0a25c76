#include "runtime/images/selection.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace winnow {

void keep_images(ImageSet& set, const std::vector<bool>& is_kept) {
  const auto size = static_cast<std::ptrdiff_t>(set.channels * set.height * set.width);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    if (!is_kept[i]) continue;
    if (kept != i && !set.is_in_memory()) {
      set.files[kept] = std::move(set.files[i]);
      if (!set.labels.empty()) set.labels[kept] = set.labels[i];
    } else if (kept != i) {
      const auto first = set.pixels.begin() + static_cast<std::ptrdiff_t>(i) * size;
      std::copy(first, first + size, set.pixels.begin() + static_cast<std::ptrdiff_t>(kept) * size);
      if (!set.labels.empty()) set.labels[kept] = set.labels[i];
    }
    ++kept;
  }
  set.count = static_cast<std::int64_t>(kept);
  if (set.is_in_memory()) {
    set.pixels.resize(kept * static_cast<std::size_t>(size));
  } else {
    set.files.resize(kept);
  }
  if (!set.labels.empty()) set.labels.resize(kept);
}

void thin_out(ImageSet& set, std::int64_t limit) {
  if (set.count <= limit) return;
  std::vector<bool> is_kept(static_cast<std::size_t>(set.count), false);
  // i n cannot overflow: both are counts of images or files.
  for (std::int64_t i = 0; i < limit; ++i) {
    is_kept[static_cast<std::size_t>(i * set.count / limit)] = true;
  }
  keep_images(set, is_kept);
}

}  // namespace winnow
