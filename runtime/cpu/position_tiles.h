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

// A tile and the blocks to compute for it. Addresses of its rows lie in PositionPlan.
struct TileItem {
  std::int64_t first_address = 0;  // into in_address and out_address, `rows` of them
  std::int32_t lists = 0;          // into PositionPlan::lists
  std::int32_t rows = 1;
  std::int32_t cols = 1;
  std::int64_t first_block = 0;
  std::int64_t last_block = 0;
};

// All work of a layer, cut for the threads.
struct PositionPlan {
  std::vector<BlockLists> lists;
  std::vector<TileItem> items;
  std::vector<std::int64_t> in_address;   // in floats from the input's begin
  std::vector<std::int64_t> out_address;  // in floats from the output's begin
  std::vector<std::int64_t> shares;       // [parts + 1] into items

  // Calls run(item) for every item, each part's on its own thread.
  template <typename Run>
  void for_items(ThreadPool& pool, Run run_one) const {
    const auto run_part = [&](int part) {
      for (std::int64_t i = shares[part]; i < shares[part + 1]; ++i) run_one(items[i], part);
    };
    if (shares.size() == 2) {
      run_part(0);
    } else {
      pool.run(run_part);
    }
  }
};

// The tiles that `kernels` has for blocks of `vector` channels (1 or block_channels).
TileLimits position_limits(const MicroKernels& kernels, int vector);

// Cuts every tile's blocks so that there are several items for each thread, then the items into
// shares of equal cost: one for each thread, or a single one for work that is not worth sharing.
void finish_plan(PositionPlan& plan, int threads);

// Where one item's kernel calls read and write.
struct ItemCall {
  const float* input = nullptr;
  float* const* out = nullptr;      // [rows] for the item's first block
  std::int64_t channel_stride = 0;  // in `out`
  const float* bias = nullptr;      // [blocks * vector], of the whole layer
  std::int64_t channels = 0;        // of the whole layer
  bool has_relu = false;
};
void run_item(const MicroKernels& kernels, const PositionPlan& plan, const TileItem& item,
              const ItemCall& call);

// Channels of the input that a tile walks through before it turns to the next block, for `bytes` of
// each channel that the tile touches and a `budget` of cache; at least so many that lists stay
// worth a call. 0: all.
std::int64_t chunk_channels(const BlockCsr& blocks, const ConvShape& shape, std::int64_t bytes,
                            std::int64_t budget);

// `bias` with zeros up to a whole number of blocks.
std::vector<float> padded_bias(std::span<const float> bias, std::int64_t blocks, int vector);

}  // namespace winnow
