// The direct sparse convolution (paper 003, section 8) on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/device/host_device.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/layer/direct_rows.h"
#include "runtime/model/graph.h"

namespace winnow {

// How the work of a layer is cut. A thread keeps `channels` x `sub_batch` partial sums in
// registers; a thread block covers `positions` output positions, counted over the images' planes
// without gaps, and `slices` threads share the nonzeros of each position. So do `shares` thread
// blocks, a cluster (compute capability 9.0), which add up their sums in shared memory.
struct DirectTile {
  int channels = 1;     // output channels per thread: 1, 8 or 16; divides the weight's vector
  int sub_batch = 1;    // images per thread: 1, 2, 4 or 8 (paper 003: subBatchSize)
  int positions = 128;  // threads of one slice; positions * slices <= 256, a multiple of 32
  int slices = 1;       // 1, 2, 4 or 8; more than 1 only where channels * sub_batch <= 32
  int shares = 1;       // likewise

  friend bool operator==(const DirectTile&, const DirectTile&) = default;
};

// "channels=16 sub_batch=4 positions=128 slices=1", and " shares=8" where there are several.
std::string to_string(const DirectTile& tile);

// Whether the kernel exists for this tile, layout and weight vector.
bool is_valid(const DirectTile& tile, const Layout& layout, int vector);

// The tiles worth timing: for every sub-batch one that fits the vector, and split ones where the
// layer alone would not fill `sms` SMs. `sub_batch` 0 takes all sizes.
// Pure; never empty for a valid layout (nchw, chwn8) and a sub-batch that exists for it.
struct DirectWork {
  Extents out;
  std::int64_t rows = 0;  // rows of blocks
  int vector = 1;
  Layout layout = Layout::nchw;
  int sms = 1;
  bool has_clusters = false;
};
std::vector<DirectTile> direct_tiles(const DirectWork& work, int sub_batch);

// Which of a row's blocks the thread block `rank` of a cluster of `shares` sums up: a run of
// multiples of kDirectUnroll, as `blocks` is one. Maybe none.
struct DirectShare {
  int first = 0, blocks = 0;
};
WINNOW_HOST_DEVICE constexpr DirectShare direct_share(int blocks, int shares, int rank) {
  const int each = (blocks / kDirectUnroll + shares - 1) / shares * kDirectUnroll;
  const int first = rank * each < blocks ? rank * each : blocks;
  return {first, each < blocks - first ? each : blocks - first};
}

// A layer's weights in device memory, for one input format and one number of channels per thread.
struct DirectWeights {
  std::int64_t rows = 0;
  std::int64_t channels = 0;  // K
  int vector = 1;
  int thread_channels = 1;
  std::int32_t row_length = 0;  // as DirectRows
  ActivationStrides input;      // what the offsets were computed for
  DeviceBuffer<float> values;   // values_by_segment
  DeviceBuffer<std::int32_t> offsets;
  DeviceBuffer<int4> bounds;  // in DirectRows::order: {row, its first block, its blocks, 0}
  DeviceBuffer<float> bias;   // [rows * vector]; 0 where the layer has none
};
DirectWeights upload_direct_weights(const DirectRows& rows, std::span<const float> bias,
                                    const Conv& conv, const ActivationStrides& input,
                                    int thread_channels);

// Enqueues out = conv(in) + bias, then max(0, .) if `has_relu`.
//
//   in   [N, C, H, W] in nchw or chwn8 with halo >= the convolution's padding
//   out  [N, K, OH, OW] in the same layout and element type, any halo (left as it is)
//
// fp16 is storage: products and sums are fp32, over the blocks of a row in their order (per slice,
// then slice by slice, share by share): equal inputs, weights and tile give equal bits.
// Throws Error{usage} if sizes, formats or tile do not fit, Error{device} if the launch is refused
// or the GPU has no clusters and the tile asks for one.
struct DirectLayer {
  Conv conv;
  bool has_relu = false;
  DirectTile tile;
};
void direct_conv(const DirectLayer& layer, const DirectWeights& weights, const ActivationView& in,
                 const ActivationView& out, cudaStream_t stream);

}  // namespace winnow
