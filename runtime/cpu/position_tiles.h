// Running block lists over register tiles of positions: what the layouts that put positions into
// lanes share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/thread_pool.h"
#include "runtime/cpu/block_lists.h"
#include "runtime/cpu/micro_kernels.h"
#include "runtime/cpu/tiles.h"

namespace winnow {

// A tile and the rows of blocks to compute for it: what a thread takes at a time. Addresses of the
// tile's rows lie in PositionPlan.
struct WorkTile {
  std::int64_t first_address = 0;  // into in_address and out_address, `rows` of them
  std::int32_t lists = 0;          // into PositionPlan::lists
  std::int32_t rows = 1;
  std::int32_t cols = 1;
  std::int64_t first_block_row = 0;
  std::int64_t last_block_row = 0;
};

// All work of a layer, cut for the threads.
struct PositionPlan {
  std::vector<BlockLists> lists;
  std::vector<WorkTile> work_tiles;
  std::vector<std::int64_t> in_address;   // in floats from the input's begin
  std::vector<std::int64_t> out_address;  // in floats from the output's begin
  std::vector<std::int64_t> shares;       // [shares + 1] into work_tiles

  // Calls run_one(tile, share) for every work tile, each share's on its own thread.
  template <typename Run>
  void for_work_tiles(ThreadPool& pool, Run run_one) const {
    const auto run_share = [&](int share) {
      for (std::int64_t i = shares[share]; i < shares[share + 1]; ++i)
        run_one(work_tiles[i], share);
    };
    if (shares.size() == 2) {
      run_share(0);
    } else {
      pool.run(run_share);
    }
  }
};

// Rows of the tiles of kernels that keep one channel, or one vector of channels, of every point.
inline constexpr int kTileRows[] = {1, 2, 4, 8};

// The tiles that `kernels` has for blocks of `vector` channels (1 or block_channels).
TileLimits position_limits(const MicroKernels& kernels, int vector);

// Cuts every tile's rows of blocks so that there are several work tiles for each thread, then these
// into shares of equal cost: one for each thread, or a single one for work that is not worth
// sharing.
void finish_plan(PositionPlan& plan, int threads);

// Where one work tile's kernel calls read and write.
struct WorkTileCall {
  const float* input = nullptr;
  float* const* out = nullptr;      // [rows] for the tile's first row of blocks
  std::int64_t channel_stride = 0;  // in `out`
  const float* bias = nullptr;      // [block_rows * vector], of the whole layer
  std::int64_t channels = 0;        // of the whole layer
  bool has_relu = false;
};
void run_work_tile(const MicroKernels& kernels, const PositionPlan& plan, const WorkTile& tile,
                   const WorkTileCall& call);

// Channels of the input that a tile walks through before it turns to the next row of blocks, for
// `bytes` of each channel that the tile touches and a `budget` of cache; at least so many that
// lists stay worth a call. 0: all.
std::int64_t chunk_channels(const BlockCsr& blocks, const ConvShape& shape, std::int64_t bytes,
                            std::int64_t budget);

// `bias` with zeros up to a whole number of rows of blocks.
std::vector<float> padded_bias(std::span<const float> bias, std::int64_t block_rows, int vector);

}  // namespace winnow
