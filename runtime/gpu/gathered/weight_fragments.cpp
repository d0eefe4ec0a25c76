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

// The A fragment of mma.m16n8k16 (PTX ISA, "Matrix fragments for mma.m16n8k16"): lane l has rows
// l / 4 and l / 4 + 8, columns 2 (l % 4) and the next one, and those 8 further.
void write_fragment(const GatheredGroups& groups, const ColumnBatch& batch, std::byte* to) {
  Half halves[kFragmentBytes / sizeof(Half)];
  Half* next = halves;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int row = lane / 4, column = lane % 4 * 2;
    for (const int k : {column, column + 8}) {
      for (const int r : {row, row + 8}) {
        *next++ = weight(groups, batch, r, k);
        *next++ = weight(groups, batch, r, k + 1);
      }
    }
  }
  std::memcpy(to, halves, kFragmentBytes);
}

}  // namespace winnow
