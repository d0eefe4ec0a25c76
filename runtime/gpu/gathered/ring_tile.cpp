#include "runtime/gpu/gathered/ring_tile.h"

namespace winnow {
namespace {

constexpr int kMostBox = 256;       // pixels of one side that a bulk tensor copy takes
constexpr int kMostRows = 1 << 14;  // that a code tells apart

int extent(int outputs, const Conv& conv, int axis) {
  const std::int64_t reach = conv.dilation[axis] * (conv.kernel[axis] - 1) + 1;
  const std::int64_t size = (outputs - 1) * conv.stride[axis] + reach;
  return static_cast<int>(size > kMostBox ? kMostBox + 1 : size);
}

}  // namespace

RingBox box_of(const RingTile& tile, const Conv& conv) {
  return {extent(tile.height, conv, 0), extent(tile.width, conv, 1)};
}

std::int64_t shared_bytes(const RingTile& tile, const RingBox& box) {
  const std::int64_t stage = std::int64_t{box.rows()} * kRowBytes;
  return tile.stages * (stage + 2 * static_cast<std::int64_t>(sizeof(std::uint64_t)));
}

bool is_valid(const RingTile& tile, const RingBox& box, std::int64_t most_shared_bytes) {
  if (box.height > kMostBox || box.width > kMostBox) return false;
  return tile.stages * box.rows() <= kMostRows && shared_bytes(tile, box) <= most_shared_bytes;
}

std::string to_string(const RingTile& tile) {
  return "ring tile=" + std::to_string(tile.height) + "x" + std::to_string(tile.width) +
         " groups=" + std::to_string(tile.groups) + " stages=" + std::to_string(tile.stages);
}

}  // namespace winnow
