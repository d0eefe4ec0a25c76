// How the gathered convolution with a resident input divides its work. Pure host code.
//
// A thread block keeps all input that it reads in shared memory at once: for maps of 32 pixels and
// less. A warp multiplies kept columns of one group of 16 output channels for a few pixels. Where a
// layer has too few groups and pixels for the GPU, several warps share the columns of a group
// (split), and so do several thread blocks, each with some of the input channels (cluster).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/divisor.h"
#include "runtime/device/host_device.h"
#include "runtime/gpu/gathered/gathered_sizes.h"
#include "runtime/model/graph.h"
#include "runtime/plan/layout.h"

namespace winnow {

// What a kernel is compiled for.
struct ResidentConvForm {
  // Whether a warp computes whole output maps of at most height x width pixels. Then shared memory
  // has whole input maps without padding, and columns that lie outside of the map are skipped.
  // Otherwise a warp has a part of a strip of the map, and shared memory has zeros as padding.
  // A map of one pixel is a point: what a linear layer reads and writes.
  bool is_map = false;
  int height = 2;  // output pixels of a warp
  int width = 8;
  int images = 1;  // blocks of eight images of a warp
  int warps = 8;   // at most
  int depth = 8;   // batches whose weights are in registers
  // Horizontal; 0: any. Maps of a form with a stride leave out their first and last columns of
  // pixels alone.
  int stride = 1;

  WINNOW_HOST_DEVICE constexpr bool is_point() const { return is_map && height == 1; }
  WINNOW_HOST_DEVICE constexpr int pixels() const { return height * width * images; }
  // Two pixels whose input rows one instruction reads.
  WINNOW_HOST_DEVICE constexpr int pairs() const { return pixels() / 2; }
  // Pairs beside each other, a set, and how many sets there are. A pair of points has two images.
  WINNOW_HOST_DEVICE constexpr int pair_width() const {
    if (is_point()) return pairs();
    return height == 1 ? width / 2 : width;
  }
  WINNOW_HOST_DEVICE constexpr int sets() const { return pairs() / pair_width(); }
  friend constexpr bool operator==(const ResidentConvForm&, const ResidentConvForm&) = default;
};

constexpr ResidentConvForm point_form(int images, int depth) {
  return {.is_map = true, .height = 1, .width = 1, .images = images, .warps = 16, .depth = depth};
}

// All forms that there are kernels for.
inline constexpr ResidentConvForm kResidentForms[] = {
    {.width = 16, .depth = 5},
    {.warps = 16, .depth = 3},
    {},
    {.stride = 2},
    {.stride = 0},
    {.height = 1, .width = 16},
    {.height = 1, .width = 16, .stride = 0},
    {.is_map = true, .height = 4, .width = 4},
    {.is_map = true, .height = 4, .width = 4, .stride = 0},
    {.is_map = true, .height = 2, .width = 2, .images = 2, .warps = 16, .depth = 4},
    {.is_map = true, .height = 2, .width = 2, .warps = 16, .depth = 6},
    {.is_map = true, .height = 2, .width = 2, .warps = 16, .depth = 6, .stride = 0},
    point_form(2, 8),
    point_form(4, 8),
    point_form(8, 6),
};

// How a record says where its columns lie. By lane, of maps that are no points: a map_code() (32
// bits). Else by column: the row of its first pixel in shared memory (16 bits).
WINNOW_HOST_DEVICE constexpr bool has_rows_by_lane(const ResidentConvForm& form) {
  return form.is_map && !form.is_point();
}

// A record is a batch of 16 columns: the weights as the fragments of one matrix product (512 bytes:
// 16 for each lane), then where the columns lie.
WINNOW_HOST_DEVICE constexpr int resident_record_bytes(const ResidentConvForm& form) {
  return static_cast<int>(kFragmentBytes) + (has_rows_by_lane(form) ? 128 : 32);
}

struct ResidentTile {
  ResidentConvForm form;
  int groups = 8;   // of a thread block
  int split = 1;    // warps that share the batches of a group; a power of 2
  int cluster = 1;  // thread blocks that share the input channels; a power of 2
  int passes = 1;   // strips: rows of warps' pixels below each other

  friend bool operator==(const ResidentTile&, const ResidentTile&) = default;
};

struct ResidentLimits {
  std::int64_t shared_bytes = 227 * 1024;  // of a thread block
  int sms = 132;
  bool has_clusters = true;
};

inline constexpr int kResidentStages = 4;   // at most
inline constexpr int kResidentPasses = 4;   // at most
inline constexpr int kResidentShares = 16;  // of a group's columns, at most

// Numbers that the kernel and the packing of weights share. A row is 16 bytes of shared memory: the
// eight images of a pixel and channel. Rows of neighbouring pixels are 32 apart.
struct ResidentGeometry {
  int image_blocks = 0;   // of eight images
  int input_blocks = 0;   // of 32 channels
  int output_blocks = 0;  //
  int in_height = 0, in_width = 0;
  int height = 0, width = 0;  // of the output, before pooling
  int stride_y = 1, stride_x = 1, padding_y = 0, padding_x = 0, dilation_y = 1, dilation_x = 1;
  int all_groups = 0;

  int groups = 0, split = 1, cluster = 1, passes = 1;  // as ResidentTile
  int parts = 1;                                       // warps beside each other
  int strips = 1;                                      // of a map
  int group_blocks = 1;                                // thread blocks for all groups
  int image_tiles = 1;                                 // and for all images

  int zero_rows = 0;      // in front, for pixels outside of the map; maps only
  int pitch = 0;          // pixels of a line in shared memory
  int lines = 0;          // of a block of channels
  int first_lines = 0;    // that the first pass reads
  int pass_lines = 0;     // that every further pass reads beyond those
  int copied_pixels = 0;  // of a line
  int rank_blocks = 0;    // of 32 input channels that a thread block of a cluster has
  int stage_blocks = 0;   // that arrive together
  int stages = 0;
  int column_step = 0;  // rows between input pixels of neighbouring outputs
  int pair_step = 0;    // between the two pixels of a pair; strips and points only
  int shared_rows = 0;  // of all shared memory but barriers

  // What the kernel divides by. Split and cluster are 1 << bits.
  Divisor by_parts, by_stage_blocks, by_lines, by_first_lines, by_pass_lines;
  int split_bits = 0, cluster_bits = 0;

  WINNOW_HOST_DEVICE constexpr int warps() const { return groups * parts * split; }
  WINNOW_HOST_DEVICE constexpr int line_rows() const { return pitch * kStageChannels; }
  WINNOW_HOST_DEVICE constexpr int block_rows() const { return lines * line_rows(); }
  // With a barrier for each stage and further pass at the end.
  WINNOW_HOST_DEVICE constexpr int barriers_at() const { return shared_rows * kRowBytes; }
  WINNOW_HOST_DEVICE constexpr std::int64_t shared_bytes() const {
    return barriers_at() + (kResidentStages + kResidentPasses - 1) * 8;
  }
  // Streams that a group's columns are divided into.
  WINNOW_HOST_DEVICE constexpr int shares() const { return split * cluster; }
};

// `in` and `out` are the sizes of the convolution's input and output.
ResidentGeometry resident_geometry(const ResidentTile& tile, const Conv& conv, const Extents& in,
                                   const Extents& out);

// Thread blocks of a launch.
int thread_blocks(const ResidentGeometry& geometry);

// Whether the tile fits the layer, the GPU and the 14 bits of a code.
bool is_valid(const ResidentTile& tile, const Conv& conv, const Extents& in, const Extents& out,
              const ResidentLimits& limits);

// A convolution to choose tiles for.
struct ResidentWork {
  Conv conv;
  Extents in, out;                // of the convolution, before pooling
  std::int64_t kept_columns = 0;  // of a group, on average
  bool pools = false;             // 2 x 2 with stride 2, in the same launch
};

// Whether it is a linear layer: 1 x 1 on maps of one pixel.
bool is_point(const Conv& conv, const Extents& in);

// Whether a warp has all pixels of what it would pool.
bool can_pool(const ResidentTile& tile, const Extents& out);

// All valid tiles.
std::vector<ResidentTile> valid_resident_tiles(const ResidentWork& work,
                                               const ResidentLimits& limits);

// Clocks that a launch should take with this tile; meant for comparing tiles of one layer.
double resident_clocks(const ResidentWork& work, const ResidentTile& tile,
                       const ResidentLimits& limits);

// At most `most` valid tiles, those first that should be fastest, of different forms and at most
// half of them with clusters, whose gain is hard to tell. Empty where the input of a tile does not
// fit shared memory, or nothing is left after pooling.
std::vector<ResidentTile> resident_tiles(const ResidentWork& work, const ResidentLimits& limits,
                                         std::size_t most);

// "resident strip=2x8 warps=8 groups=8 split=1 cluster=1 passes=1"
std::string to_string(const ResidentTile& tile);

}  // namespace winnow
