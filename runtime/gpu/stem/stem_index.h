// Where the stem convolution reads and writes: for its kernel, and for tests on the host.
#pragma once

#include <cstdint>

#include "runtime/device/host_device.h"
#include "runtime/gpu/gathered/gathered_sizes.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/stem/stem_tile.h"

namespace winnow {

struct StemGeometry {
  int images = 0, channels = 0, height = 0, width = 0;       // of the input
  int out_channels = 0, out_height = 0, out_width = 0;       // of the output
  int tile_height = 0, tile_width = 0, tile_width_bits = 0;  // width = 1 << bits
  int tiles_y = 0, tiles_x = 0;
  int stride_y = 1, stride_x = 1, padding_y = 0, padding_x = 0;
  int box_height = 0, box_width = 0, row_pitch = 0, plane_pitch = 0;
  int batches = 0, chunks = 0;
  std::int64_t out_octet = 0;  // elements from eight images to the next
  std::int64_t out_image = 0;  // from an image to the next, for nhwc
  std::int64_t out_block = 0;  // from 32 channels to the next
  int out_row = 0, out_column = 0;

  int octets() const { return (images + kGatheredImages - 1) / kGatheredImages; }
  std::int64_t blocks() const { return std::int64_t{1} * octets() * tiles_y * tiles_x; }
};

// For an output of this format and size; `box` is stem_box() of the tile. Throws Error{device} for
// a launch of 2^31 thread blocks or more, or an output whose row is as long.
StemGeometry stem_geometry(const Conv& conv, const StemTile& tile, const StemBox& box,
                           const Extents& in, const ActivationView& out);

// A thread block's first output pixel, and which eight images it computes.
struct StemTileAt {
  int octet, y, x;
};
WINNOW_HOST_DEVICE inline StemTileAt stem_tile_at(const StemGeometry& g, int block) {
  const int row = block / g.tiles_x;
  return {row / g.tiles_y, row % g.tiles_y * g.tile_height, block % g.tiles_x * g.tile_width};
}

// A pixel of the input; outside of it is padding.
struct StemPixel {
  int y, x;
};
WINNOW_HOST_DEVICE inline StemPixel stem_input_pixel(const StemGeometry& g, const StemTileAt& at,
                                                     int box_y, int box_x) {
  return {at.y * g.stride_y - g.padding_y + box_y, at.x * g.stride_x - g.padding_x + box_x};
}
WINNOW_HOST_DEVICE inline bool is_in_input(const StemGeometry& g, const StemPixel& pixel) {
  return pixel.y >= 0 && pixel.y < g.height && pixel.x >= 0 && pixel.x < g.width;
}

// Row of shared memory.
WINNOW_HOST_DEVICE inline int stem_row(const StemGeometry& g, int channel, int box_y, int box_x) {
  return channel * g.plane_pitch + box_y * g.row_pitch + box_x;
}

// First pixel, within the tile, of the unit-th run of `pixels` neighbours: a power of 2, at most
// the tile's width.
WINNOW_HOST_DEVICE inline StemPixel stem_unit(const StemGeometry& g, int unit, int pixels) {
  const int pixel = unit * pixels;
  return {pixel >> g.tile_width_bits, pixel & (g.tile_width - 1)};
}

// Row of shared memory that tap 0 has for a pixel of the tile.
WINNOW_HOST_DEVICE inline int stem_pixel_row(const StemGeometry& g, const StemPixel& pixel) {
  return pixel.y * g.stride_y * g.row_pitch + pixel.x * g.stride_x;
}

// How the warps of a block share its units and chunks: each takes every unit_step-th unit of every
// chunk_step-th chunk. Where units are few, several warps take the same one.
struct StemShare {
  int unit, unit_step, chunk, chunk_step;
};
WINNOW_HOST_DEVICE inline StemShare stem_share(int units, int warp) {
  int step = kStemWarps;
  while (step > units && step > 1) step /= 2;
  return {warp % step, step, warp / step, kStemWarps / step};
}

// Elements to an output pixel, for nchw32c8n at the first image of the first channel of a chunk,
// for nhwc at its first channel of the first image.
WINNOW_HOST_DEVICE inline std::int64_t stem_output(const StemGeometry& g, const StemTileAt& at,
                                                   const StemPixel& pixel, int chunk) {
  return at.octet * g.out_octet + chunk * g.out_block + std::int64_t{at.y + pixel.y} * g.out_row +
         std::int64_t{at.x + pixel.x} * g.out_column;
}

}  // namespace winnow
