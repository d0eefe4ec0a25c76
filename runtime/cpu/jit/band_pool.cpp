#include "runtime/cpu/jit/band_pool.h"

#include <algorithm>

#include "runtime/base/divided_up.h"
#include "runtime/cpu/max_rows.h"

namespace winnow {

BandPool::BandPool(const Extents& in, std::int64_t vectors)
    : width_(in.w), pooled_width_(in.w / 2), pooled_rows_(in.h / 2) {
  const std::int64_t row_floats = 2 * width_;
  const std::int64_t rows = std::clamp<std::int64_t>(
      (vectors * kGapVector + row_floats / 2) / row_floats, 1, pooled_rows_);
  bands_ = divided_up(pooled_rows_, rows);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < bands_; ++i) most = std::max(most, band(i).vectors);
  stride_ = (most | 1) * kGapVector;
}

bool BandPool::fits(const Pool& op, const Extents& in) {
  return op == Pool{PoolKind::max, 2, {2, 2}, {2, 2}, {0, 0}} && (in.h / 2) * (in.w / 2) > 1;
}

PoolBand BandPool::band(std::int64_t index) const {
  PoolBand band;
  band.first = pooled_rows_ * index / bands_;
  band.count = pooled_rows_ * (index + 1) / bands_ - band.first;
  band.first_vector = 2 * band.first * width_ / kGapVector;
  const std::int64_t end = 2 * (band.first + band.count) * width_;
  band.vectors = divided_up(end, kGapVector) - band.first_vector;
  return band;
}

void BandPool::run(const PoolBand& band, const float* from, float* plane) const {
  const float* rows = from + 2 * band.first * width_ - band.first_vector * kGapVector;
  for (std::int64_t y = 0; y < band.count; ++y, rows += 2 * width_) {
    max_pairs(rows, rows + width_, pooled_width_, plane + (band.first + y) * pooled_width_);
  }
}

}  // namespace winnow
