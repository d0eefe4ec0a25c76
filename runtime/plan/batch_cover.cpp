#include "runtime/plan/batch_cover.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr double kLaunchMs = 0.004;  // between the end of a run and the begin of the next

}  // namespace

std::vector<std::int64_t> batch_sizes(std::int64_t batch) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size < batch; size *= 2) sizes.push_back(size);
  sizes.push_back(batch);
  return sizes;
}

BatchCover::BatchCover(std::vector<TimedBatch> sizes) : sizes_(std::move(sizes)) {
  const bool is_rising = std::ranges::is_sorted(sizes_, std::less_equal<>(), &TimedBatch::samples);
  const bool is_fit = !sizes_.empty() && sizes_.size() <= 64 && sizes_[0].samples >= 1 && is_rising;
  if (!is_fit) fail(ErrorCode::internal, "batch sizes do not rise from 1");
  const auto largest = static_cast<std::size_t>(sizes_.back().samples);
  std::vector<double> ms(largest + 1, std::numeric_limits<double>::infinity());
  ms[0] = 0;
  next_.resize(largest + 1, static_cast<std::uint8_t>(sizes_.size() - 1));
  for (std::size_t samples = 1; samples < largest; ++samples) {
    for (std::size_t i = sizes_.size(); i-- > 0;) {
      const auto held = static_cast<std::size_t>(sizes_[i].samples);
      const double rest = ms[samples - std::min(samples, held)];
      const double total = sizes_[i].ms + kLaunchMs + rest;
      if (total >= ms[samples]) continue;
      ms[samples] = total;
      next_[samples] = static_cast<std::uint8_t>(i);
    }
  }
}

std::vector<std::size_t> BatchCover::cover(std::int64_t samples) const {
  std::vector<std::size_t> runs;
  while (samples > 0) {
    runs.push_back(next_[static_cast<std::size_t>(samples)]);
    samples -= sizes_[runs.back()].samples;
  }
  std::ranges::sort(runs, std::greater<>());
  return runs;
}

}  // namespace winnow
