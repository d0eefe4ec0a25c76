#include "prune/data/augment.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace winnow {

Augmentations draw_augmentations(const AugmentConfig& config, std::int64_t height,
                                 std::int64_t width, std::int64_t count, Random& random) {
  const std::int64_t padding = config.crop_padding;
  const std::int64_t half = config.cutout / 2;
  Augmentations drawn;
  for (std::int64_t i = 0; i < count; ++i) {
    drawn.row_shift.push_back(random.between(-padding, padding));
    drawn.column_shift.push_back(random.between(-padding, padding));
    drawn.is_flipped.push_back(random.chance(0.5) && config.flip ? 1 : 0);
    drawn.hole_row.push_back(random.between(0, height - 1) - half);
    drawn.hole_column.push_back(random.between(0, width - 1) - half);
  }
  return drawn;
}

void check_augment_config(const AugmentConfig& config, std::int64_t height, std::int64_t width) {
  const std::int64_t side = std::min(height, width);
  if (config.crop_padding < 0 || config.crop_padding >= side) {
    fail(ErrorCode::usage, "crop_padding: found ", config.crop_padding, ", expected 0 to ",
         side - 1, " for images of ", height, " x ", width);
  }
  if (config.cutout < 0) {
    fail(ErrorCode::usage, "cutout: found ", config.cutout, ", expected at least 0");
  }
}

}  // namespace winnow
