#include "runtime/sparse/level_window.h"

#include <algorithm>
#include <limits>

namespace winnow {

LevelWindow::LevelWindow(std::uint32_t bank_groups) : bank_groups_(bank_groups) {
  output_.reserve(kMost);
  own_.fill(std::numeric_limits<float>::infinity());
}

void LevelWindow::push(std::uint32_t output, const BankCounts& counts) {
  const std::size_t i = output_.size();
  float sum = 0, squares = 0;
  for (std::uint32_t c = 0; c < bank_groups_; ++c) {
    const auto n = static_cast<float>(counts[c]);
    count_[c][i] = n;
    sum += n;
    squares += n * n;
  }
  own_[i] = static_cast<float>(bank_groups_) * squares - sum * sum;
  output_.push_back(output);
}

// With n = total + counts, groups * sum of n^2 - (sum of n)^2 is what the total has alone, plus
// own_, plus 2 * sum of (groups * total - sum of totals) * counts. In whole numbers, which floats
// hold exactly up to 2^24.
std::size_t LevelWindow::most_even(const BankCounts& total) const {
  float all = 0;
  for (std::uint32_t c = 0; c < bank_groups_; ++c) all += static_cast<float>(total[c]);
  Row score = own_;
  const std::size_t size = (output_.size() + kAtOnce - 1) / kAtOnce * kAtOnce;
  for (std::uint32_t c = 0; c < bank_groups_; ++c) {
    const float factor =
        2 * (static_cast<float>(bank_groups_) * static_cast<float>(total[c]) - all);
    for (std::size_t i = 0; i < size; ++i) score[i] += factor * count_[c][i];
  }
  std::array<float, kAtOnce> least;
  std::copy_n(score.begin(), kAtOnce, least.begin());
  for (std::size_t i = kAtOnce; i < size; i += kAtOnce) {
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      least[k] = score[i + k] < least[k] ? score[i + k] : least[k];
    }
  }
  const float best = *std::ranges::min_element(least);
  const auto at = std::find(score.begin(), score.begin() + static_cast<std::ptrdiff_t>(size), best);
  return static_cast<std::size_t>(at - score.begin());
}

std::uint32_t LevelWindow::take(std::size_t i) {
  const std::uint32_t output = output_[i];
  const auto close = [&](Row& row) {
    std::copy(row.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              row.begin() + static_cast<std::ptrdiff_t>(output_.size()),
              row.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (std::uint32_t c = 0; c < bank_groups_; ++c) close(count_[c]);
  close(own_);
  output_.erase(output_.begin() + static_cast<std::ptrdiff_t>(i));
  own_[output_.size()] = std::numeric_limits<float>::infinity();
  return output;
}

}  // namespace winnow
