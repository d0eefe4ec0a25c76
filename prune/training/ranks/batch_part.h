// The part of a batch that one of several ranks trains on. Standard C++ only.
#pragma once

#include <cstdint>

namespace winnow {

struct BatchPart {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t of = 0;  // images of the whole batch
  // What the mean over its images counts in the mean over the batch; of all ranks 1.
  double weight = 1.0;
};

// Neighbouring images, equally many for each rank but for one more or less. A batch with less than
// two images for each rank, as the last one of an epoch may be, is everybody's as a whole: batch
// norm has no variance of one value.
inline BatchPart batch_part(std::int64_t images, std::int64_t rank, std::int64_t size) {
  if (images < 2 * size) return {0, images, images, 1.0 / static_cast<double>(size)};
  const std::int64_t first = images * rank / size;
  const std::int64_t count = images * (rank + 1) / size - first;
  return {first, count, images, static_cast<double>(count) / static_cast<double>(images)};
}

}  // namespace winnow
