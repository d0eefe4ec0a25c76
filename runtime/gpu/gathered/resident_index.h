// Where the gathered convolution with a resident input finds and puts things: the arithmetic of
// indices of its kernel, which tests run on the host. Rows have 16 bytes.
#pragma once

#include <cstdint>

#include "runtime/device/host_device.h"
#include "runtime/gpu/gathered/resident_tile.h"

namespace winnow {

// Where a thread block works.
struct ResidentBlock {
  int rank;         // in its cluster
  int group_block;  // of output channels
  int y;            // first output line of its strip
  int image;        // first block of eight images
};
// `x`, `y` and `z` count thread blocks of the launch: groups and ranks, strips, images.
WINNOW_HOST_DEVICE constexpr ResidentBlock resident_block(const ResidentConvForm& form,
                                                          const ResidentGeometry& g, int x, int y,
                                                          int z) {
  return {x & (g.cluster - 1), x >> g.cluster_bits, y * (g.passes * form.height), z * form.images};
}

// What a warp of it computes.
struct ResidentWarp {
  int split;  // which of the warps that share batches
  int part;   // which of the warps beside each other
  int group;  // of output channels; all_groups and more: none
};
WINNOW_HOST_DEVICE constexpr ResidentWarp resident_warp(const ResidentGeometry& g,
                                                        const ResidentBlock& at, int warp) {
  const int rest = warp >> g.split_bits, group = quotient(rest, g.by_parts);
  return {warp & (g.split - 1), rest - group * g.parts, at.group_block * g.groups + group};
}

// Which of a group's shares of columns a warp has, and the stream of records with it.
WINNOW_HOST_DEVICE constexpr int resident_share(const ResidentGeometry& g, int rank, int split) {
  return rank * g.split + split;
}
WINNOW_HOST_DEVICE constexpr int resident_stream(const ResidentGeometry& g, int group, int share) {
  return group * g.shares() + share;
}

// A contiguous piece of the input, in rows.
struct ResidentCopy {
  std::int64_t from;
  int to;
  int rows;     // 0: nothing to copy
  int barrier;  // that it arrives at
};

WINNOW_HOST_DEVICE constexpr int lines_of_pass(const ResidentGeometry& g, int pass) {
  return pass == 0 ? g.first_lines : g.pass_lines;
}
WINNOW_HOST_DEVICE constexpr int copies_of_pass(const ResidentConvForm& form,
                                                const ResidentGeometry& g, int pass) {
  return g.rank_blocks * (form.is_map ? form.images : lines_of_pass(g, pass));
}

// Barriers: one for each stage of the first pass, one for each further pass.
WINNOW_HOST_DEVICE constexpr int resident_barriers(const ResidentGeometry& g) {
  return g.stages + g.passes - 1;
}

// The input line that lies in line `line` of shared memory; may be outside of the map.
WINNOW_HOST_DEVICE constexpr int input_line(const ResidentGeometry& g, const ResidentBlock& at,
                                            int line) {
  return at.y * g.stride_y - g.padding_y + line;
}
WINNOW_HOST_DEVICE constexpr bool has_input_line(const ResidentGeometry& g, const ResidentBlock& at,
                                                 int line) {
  const int y = input_line(g, at, line);
  return y >= 0 && y < g.in_height && g.copied_pixels > 0;
}

// Copy `i` of copies_of_pass(); those of a stage follow each other.
WINNOW_HOST_DEVICE constexpr ResidentCopy resident_copy(const ResidentConvForm& form,
                                                        const ResidentGeometry& g,
                                                        const ResidentBlock& at, int pass, int i) {
  const int pieces = form.is_map ? form.images : lines_of_pass(g, pass);
  const int local =
      form.is_map ? i / form.images : quotient(i, pass == 0 ? g.by_first_lines : g.by_pass_lines);
  const int piece = i - local * pieces;
  const int block = at.rank * g.rank_blocks + local;
  const int barrier = pass == 0 ? quotient(local, g.by_stage_blocks) : g.stages + pass - 1;
  const int image = at.image + (form.is_map ? piece : 0);
  if (block >= g.input_blocks || image >= g.image_blocks) return {0, 0, 0, barrier};
  const int map_rows = g.in_height * g.in_width * kStageChannels;
  const std::int64_t map = std::int64_t{image * g.input_blocks + block} * map_rows;
  if (form.is_map) {
    const int to = g.zero_rows + (piece * g.rank_blocks + local) * g.block_rows();
    return {map, to, g.block_rows(), barrier};
  }
  const int line = piece + (pass == 0 ? 0 : g.first_lines + (pass - 1) * g.pass_lines);
  if (!has_input_line(g, at, line)) return {0, 0, 0, barrier};
  const int in_line = input_line(g, at, line);
  return {map + in_line * g.in_width * kStageChannels,
          local * g.block_rows() + line * g.line_rows() + g.padding_x * kStageChannels,
          g.copied_pixels * kStageChannels, barrier};
}

// Copies that arrive at a barrier, those of no rows among them.
WINNOW_HOST_DEVICE constexpr int copies_of_barrier(const ResidentConvForm& form,
                                                   const ResidentGeometry& g, int barrier) {
  const bool is_stage = barrier < g.stages;
  const int left = g.rank_blocks - barrier * g.stage_blocks;
  const int blocks = is_stage && left > g.stage_blocks ? g.stage_blocks : left;
  const int lines = is_stage ? g.first_lines : g.pass_lines;
  return (is_stage ? blocks : g.rank_blocks) * (form.is_map ? form.images : lines);
}

// Strips: pixels of a line in shared memory that are zeros, and which they are.
WINNOW_HOST_DEVICE constexpr int zero_pixels(const ResidentGeometry& g, bool has_input) {
  return has_input ? g.pitch - g.copied_pixels : g.pitch;
}
WINNOW_HOST_DEVICE constexpr int zero_pixel(const ResidentGeometry& g, bool has_input, int i) {
  return has_input && i >= g.padding_x ? i + g.copied_pixels : i;
}

// Strips and points: the row of a column with code 0 for the first pair of pixels.
WINNOW_HOST_DEVICE constexpr int strip_row(const ResidentConvForm& form, const ResidentGeometry& g,
                                           int part, int pass, int second) {
  return second * g.pair_step + part * form.width * g.column_step +
         pass * g.pass_lines * g.line_rows();
}

// From the first pair of a set to pair p of all.
WINNOW_HOST_DEVICE constexpr int pair_row(const ResidentConvForm& form, const ResidentGeometry& g,
                                          int p) {
  if (form.is_point()) return 2 * p * g.pair_step;
  const int step = form.stride == 0 ? g.column_step : form.stride * kStageChannels;
  return p % form.pair_width() * step;
}

// An output pixel of a warp.
struct ResidentPixel {
  int image, y, x;
};
// Of strips and maps that are no points; `second`: which one of a pair.
WINNOW_HOST_DEVICE constexpr ResidentPixel pixel_of_pair(const ResidentConvForm& form, int p,
                                                         int second) {
  const int x = p % form.pair_width();
  if (form.height == 1) return {0, 0, x + second * form.pair_width()};
  const int lines = form.height / 2, set = p / form.pair_width();
  return {set / lines, second * lines + set % lines, x};
}

// Pixels come in squares of 2 x 2, so that they can be pooled; pixel `i` of square `q`.
struct PixelOfPair {
  int pair, second;
};
WINNOW_HOST_DEVICE constexpr PixelOfPair pixel_of_square(const ResidentConvForm& form, int q,
                                                         int i) {
  if (form.height == 4) return {i / 2 * form.width + q % 2 * 2 + i % 2, q / 2};
  return {2 * q + i % 2, i / 2};
}

// Points: image u of a warp.
WINNOW_HOST_DEVICE constexpr ResidentPixel pixel_of_point(int u) {
  return {u, 0, 0};
}
WINNOW_HOST_DEVICE constexpr PixelOfPair pair_of_point(int u) {
  return {u / 2, u % 2};
}

// Which share finishes pixel `i` of square `q`: squares as a whole where they are pooled.
WINNOW_HOST_DEVICE constexpr int owner_of_pixel(const ResidentGeometry& g, bool pools, int q,
                                                int i) {
  return (pools ? q : 4 * q + i) & (g.shares() - 1);
}

// Where a square is after pooling, if it was here before.
WINNOW_HOST_DEVICE constexpr ResidentPixel pooled_pixel(const ResidentPixel& pixel) {
  return {pixel.image, pixel.y / 2, pixel.x / 2};
}

// The same pixel in the output.
WINNOW_HOST_DEVICE constexpr ResidentPixel output_pixel(const ResidentConvForm& form,
                                                        const ResidentBlock& at, int part, int pass,
                                                        const ResidentPixel& pixel) {
  return {at.image + pixel.image, at.y + pass * form.height + pixel.y, part * form.width + pixel.x};
}

// Whether a map of so many lines and columns has the pixel that is `step` away from `first`.
WINNOW_HOST_DEVICE constexpr bool has_pixel(const ResidentGeometry& g, const ResidentPixel& first,
                                            const ResidentPixel& step, int height, int width) {
  const bool has_line = first.image + step.image < g.image_blocks && first.y + step.y < height;
  return step.x < (has_line ? width - first.x : 0);
}

// Its row for the channel at `place`, in a map of so many lines and columns.
WINNOW_HOST_DEVICE constexpr std::int64_t output_row(const ResidentGeometry& g,
                                                     const ResidentPixel& pixel, int place,
                                                     int height, int width) {
  const int map = pixel.image * g.output_blocks + place / kStageChannels;
  return std::int64_t{map} * (height * width * kStageChannels) +
         (pixel.y * width + pixel.x) * kStageChannels + place % kStageChannels;
}

// From a warp's first pixel to another one.
WINNOW_HOST_DEVICE constexpr std::int64_t output_step(const ResidentGeometry& g,
                                                      const ResidentPixel& pixel, int height,
                                                      int width) {
  const std::int64_t image = std::int64_t{g.output_blocks} * (height * width * kStageChannels);
  return pixel.image * image + std::int64_t{pixel.y} * (width * kStageChannels) +
         pixel.x * kStageChannels;
}

// Codes of maps. A code has for each of two sets the row that a lane reads for the set's first
// pixel, 14 bits each, and bits for columns of pixels that the batch leaves out.
WINNOW_HOST_DEVICE constexpr std::uint32_t map_code(int first_set, int second_set,
                                                    std::uint32_t skips) {
  return static_cast<std::uint32_t>(first_set) | static_cast<std::uint32_t>(second_set) << 16 |
         (skips & 3) << 14 | (skips >> 2 & 3) << 30;
}
WINNOW_HOST_DEVICE constexpr int row_of_set(std::uint32_t code, int set) {
  return static_cast<int>(code >> (16 * set) & 0x3fff);
}
WINNOW_HOST_DEVICE constexpr bool may_skip_column(const ResidentConvForm& form, int x) {
  return has_rows_by_lane(form) && (form.stride == 0 || x == 0 || x == form.pair_width() - 1);
}
WINNOW_HOST_DEVICE constexpr bool skips_column(std::uint32_t code, int x) {
  return (code >> (x < 2 ? 14 + x : 28 + x) & 1) != 0;
}

}  // namespace winnow
