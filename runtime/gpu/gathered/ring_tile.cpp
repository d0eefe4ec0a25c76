#include "runtime/gpu/gathered/ring_tile.h"

#include <algorithm>
#include <bit>

namespace winnow {
namespace {

constexpr int kMostBox = 256;       // pixels of one side that a bulk tensor copy takes
constexpr int kMostRows = 1 << 14;  // that a code tells apart

struct Side {
  int size;
  int step;
};
Side side_of(int outputs, const Conv& conv, std::size_t axis) {
  const std::int64_t stride = conv.stride[axis];
  const bool can_skip = conv.kernel[axis] == 1 && conv.padding[axis] % stride == 0;
  if (can_skip) return {outputs, static_cast<int>(stride)};
  const std::int64_t reach = conv.dilation[axis] * (conv.kernel[axis] - 1) + 1;
  const std::int64_t size = (outputs - 1) * stride + reach;
  return {static_cast<int>(std::min<std::int64_t>(size, kMostBox + 1)), 1};
}

bool is_compiled(const RingTile& tile) {
  return std::ranges::any_of(kRingForms, [&](const RingForm& form) {
    return form.height == tile.height && form.width == tile.width && form.warps == tile.warps &&
           form.pitch == 0;
  });
}

}  // namespace

RingBox box_of(const RingTile& tile, const Conv& conv) {
  const Side y = side_of(tile.rows(), conv, 0), x = side_of(tile.width, conv, 1);
  return {y.size, x.size, y.step, x.step};
}

bool has_unit_steps(const RingBox& box, const Conv& conv) {
  return conv.stride[0] == box.step_y && conv.stride[1] == box.step_x;
}

std::int64_t shared_bytes(const RingTile& tile, const RingBox& box) {
  const std::int64_t stage = std::int64_t{box.rows()} * kRowBytes;
  return tile.stages * (stage + 2 * static_cast<std::int64_t>(sizeof(std::uint64_t)));
}

bool is_valid(const RingTile& tile, const RingBox& box, std::int64_t most_shared_bytes) {
  if (!is_compiled(tile) || tile.groups < 1 || tile.slices < 1) return false;
  if (tile.groups * tile.slices > tile.warps) return false;
  if (tile.slices > 1 && tile.warps != kSlicedWarps) return false;
  if (tile.stages < 2 || tile.stages > kMostStages) return false;
  if (!std::has_single_bit(static_cast<unsigned>(tile.stages))) return false;
  if (box.height > kMostBox || box.width > kMostBox) return false;
  return tile.stages * box.rows() <= kMostRows && shared_bytes(tile, box) <= most_shared_bytes;
}

std::string to_string(const RingTile& tile) {
  return "ring tile=" + std::to_string(tile.height) + "x" + std::to_string(tile.width) +
         " warps=" + std::to_string(tile.warps) + " groups=" + std::to_string(tile.groups) +
         " slices=" + std::to_string(tile.slices) + " stages=" + std::to_string(tile.stages);
}

}  // namespace winnow
