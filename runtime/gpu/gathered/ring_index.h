// Where the gathered convolution with a ring of stages reads and writes: for its kernel, and for
// tests on the host.
#pragma once

#include "runtime/device/host_device.h"
#include "runtime/gpu/gathered/gathered_sizes.h"
#include "runtime/gpu/gathered/ring_arguments.h"

namespace winnow {

// First output pixel and block of eight images of a tile.
struct RingTileAt {
  int x, y, images;
};
WINNOW_HOST_DEVICE inline RingTileAt tile_at(const RingArguments& a, int tile, int width) {
  const int line = quotient(tile, a.tiles_x), images = quotient(line, a.tiles_y);
  return {(tile - line * a.tiles_x.value) * width,
          (line - images * a.tiles_y.value) * a.tile_height, images};
}

// The part of a thread block: which output channels it has.
WINNOW_HOST_DEVICE inline int part_of(const RingArguments& a, int block) {
  int part = 0;
  while (block >= a.part_begin[part + 1]) ++part;
  return part;
}

// First input pixel of the tile's box, and which box of the tensor map it is.
struct RingBoxAt {
  int x, y, map;
};
WINNOW_HOST_DEVICE inline RingBoxAt box_at(const RingArguments& a, const RingTileAt& at,
                                           int block) {
  return {at.x * a.stride_x - a.padding_x, at.y * a.stride_y - a.padding_y,
          at.images * a.input_blocks + block};
}

// The same for a tile of the value that is added.
WINNOW_HOST_DEVICE inline RingBoxAt addend_box_at(const RingArguments& a, const RingTileAt& at,
                                                  int block) {
  return {at.x, at.y, at.images * a.map.blocks + block};
}

// Elements to the 32 channels of eight images of a pixel of a box; negative outside of the map,
// where zeros are.
WINNOW_HOST_DEVICE inline std::int64_t box_pixel(const RingMap& map, const RingBoxAt& at, int box_y,
                                                 int box_x) {
  const int y = at.y + box_y, x = at.x + box_x;
  if (y < 0 || y >= map.height || x < 0 || x >= map.width) return -1;
  return at.map * map.block + std::int64_t{y} * map.row + std::int64_t{x} * map.column;
}

// Pixels come in pairs, whose input rows one ldmatrix loads: of the upper and the lower half of a
// slice or, where it is one row, of its left and right half.
struct RingPixel {
  int y, x;
};
WINNOW_HOST_DEVICE constexpr RingPixel pixel_of(int height, int width, int pair, bool is_second) {
  if (height % 2 == 0) {
    return {pair / width + (is_second ? height / 2 : 0), pair % width};
  }
  return {0, pair + (is_second ? width / 2 : 0)};
}

// The pair of a pixel.
WINNOW_HOST_DEVICE constexpr int pair_of(int height, int width, const RingPixel& pixel) {
  if (height % 2 == 0) return pixel.y % (height / 2) * width + pixel.x;
  return pixel.x % (width / 2);
}
WINNOW_HOST_DEVICE constexpr bool is_second(int height, int width, const RingPixel& pixel) {
  return height % 2 == 0 ? pixel.y >= height / 2 : pixel.x >= width / 2;
}

// Bytes in a stage from a slice's first pair of pixels to this one.
WINNOW_HOST_DEVICE inline std::uint32_t pair_offset(const RingArguments& a, int height, int width,
                                                    int pair) {
  const RingPixel pixel = pixel_of(height, width, pair, false);
  return pixel.y * a.row_step + pixel.x * a.column_step;
}

// Bytes in a stage of the value that is added to the first image of channel `place`, and from the
// first pixel of a slice to another.
WINNOW_HOST_DEVICE inline std::uint32_t addend_offset(int place) {
  return static_cast<std::uint32_t>(place % kStageChannels * kRowBytes);
}
WINNOW_HOST_DEVICE constexpr std::uint32_t addend_step(int width, const RingPixel& pixel) {
  return static_cast<std::uint32_t>((pixel.y * width + pixel.x) * kStageChannels * kRowBytes);
}

// Elements to the first image of the channel at `place` in the output's first pixel.
WINNOW_HOST_DEVICE inline std::int64_t channel_offset(const RingMap& map, int images, int place) {
  return images * map.image + place / kStageChannels * map.block +
         place % kStageChannels * kGatheredImages;
}

}  // namespace winnow
