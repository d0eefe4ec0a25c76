#include "runtime/gpu/stem/stem_index.h"

#include <bit>
#include <limits>

#include "runtime/base/divided_up.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

int fitting(std::int64_t value, const char* what) {
  if (value > kMostInt)
    fail(ErrorCode::device, "stem_conv: ", what, " ", value, " exceeds 31 bits");
  return static_cast<int>(value);
}

void set_output(StemGeometry& g, const ActivationView& out) {
  const ActivationStrides strides = strides_of(out.format, out.size);
  const bool is_nhwc = out.format.layout == Layout::nhwc;
  g.out_channels = static_cast<int>(out.size.c);
  g.out_height = static_cast<int>(out.size.h);
  g.out_width = static_cast<int>(out.size.w);
  g.out_octet = is_nhwc ? strides.image * kGatheredImages : strides.image;
  g.out_image = is_nhwc ? strides.image : 0;
  g.out_block = is_nhwc ? kStemChunk : strides.channel_block;
  g.out_row = fitting(strides.row, "a row of the output of");
  g.out_column = fitting(strides.column, "a pixel of the output of");
}

}  // namespace

StemGeometry stem_geometry(const Conv& conv, const StemTile& tile, const StemBox& box,
                           const Extents& in, const ActivationView& out) {
  StemGeometry g;
  g.images = static_cast<int>(in.n);
  g.channels = static_cast<int>(in.c);
  g.height = static_cast<int>(in.h);
  g.width = static_cast<int>(in.w);
  set_output(g, out);
  g.tile_height = tile.height;
  g.tile_width = tile.width;
  g.tile_width_bits = std::countr_zero(static_cast<unsigned>(tile.width));
  g.tiles_y = static_cast<int>(divided_up(out.size.h, tile.height));
  g.tiles_x = static_cast<int>(divided_up(out.size.w, tile.width));
  g.stride_y = static_cast<int>(conv.stride[0]);
  g.stride_x = static_cast<int>(conv.stride[1]);
  g.padding_y = static_cast<int>(conv.padding[0]);
  g.padding_x = static_cast<int>(conv.padding[1]);
  g.box_height = box.height;
  g.box_width = box.width;
  g.row_pitch = box.row_pitch;
  g.plane_pitch = box.plane_pitch;
  g.batches = stem_batches(conv);
  g.chunks = static_cast<int>(divided_up(out.size.c, kStemChunk));
  fitting(g.blocks(), "a launch of thread blocks");
  return g;
}

}  // namespace winnow
