#include "runtime/gpu/gathered/weight_fragments.h"

#include <cstring>

#include "runtime/base/half.h"

namespace winnow {
namespace {

constexpr int kLanes = 32;

Half weight(const GatheredGroups& groups, const ColumnBatch& batch, int row, int k) {
  const std::int64_t block = batch.column[static_cast<std::size_t>(k)].block;
  if (block == kNoBlock) return to_half(0.0f);
  return to_half(groups.weight.value[static_cast<std::size_t>(block * kGroupChannels + row)]);
}

}  // namespace

Tap tap_of(std::uint32_t column, const Conv& conv) {
  const std::int64_t s = column % conv.kernel[1];
  const std::int64_t rest = column / conv.kernel[1];
  return {rest / conv.kernel[0], rest % conv.kernel[0], s};
}

void write_fragment(const GatheredGroups& groups, const ColumnBatch& batch, std::byte* to) {
  Half halves[kFragmentBytes / sizeof(Half)];
  Half* next = halves;
  for (int lane = 0; lane < kLanes; ++lane) {
    for_each_held(lane, [&](int row, int k) { *next++ = weight(groups, batch, row, k); });
  }
  std::memcpy(to, halves, kFragmentBytes);
}

}  // namespace winnow
