// Which of several planned batch sizes run a number of samples: one after another, in least time.
// Pure host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow {

// Sizes to plan for, so that any number of samples up to `batch` is run without much waste: the
// powers of two below it, and `batch` itself. Rising.
std::vector<std::int64_t> batch_sizes(std::int64_t batch);

// A batch size, and what a run of it takes.
struct TimedBatch {
  std::int64_t samples = 0;
  double ms = 0;
};

class BatchCover {
 public:
  // `sizes` rise; at least one. Throws Error{internal} otherwise.
  explicit BatchCover(std::vector<TimedBatch> sizes);

  // The indices of the sizes that together hold `samples`, the larger ones first, so that their
  // runs take least time; every run counts a launch besides. Of equal times the larger sizes. The
  // largest size alone runs as many samples as it holds. Requires 1 <= samples <= the largest size.
  std::vector<std::size_t> cover(std::int64_t samples) const;

 private:
  std::vector<TimedBatch> sizes_;
  std::vector<std::uint8_t> next_;  // by samples: which size comes first
};

}  // namespace winnow
