#include "runtime/cpu/nchw_conv.h"

#include <algorithm>

#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/packed_input.h"
#include "runtime/cpu/position_tiles.h"

namespace winnow {
namespace {

// Measured: most of a first-level cache. Few images have few sums to load and store.
constexpr std::int64_t kChunkBytes = 28 * 1024;

class NchwConv final : public CpuLayer {
 public:
  NchwConv(const ConvWork& work, const MicroKernels& kernels, int threads)
      : kernels_(kernels), out_(work.shape.out), has_relu_(work.has_relu), packed_(work.shape) {
    const int wide = kernels.block_channels;
    const BlockCsr blocks =
        fitting_blocks(work.blocks, work.shape, work.blocks.vector % wide == 0 ? wide : 1);
    plan_tiles(blocks, work.shape, threads);
    bias_ = padded_bias(work.bias, blocks.rows(), blocks.vector);
    images_ = work.shape.in.n;
    planes_ = images_ * work.shape.in.c;
    // The last vectors read past the last plane; what they read is dropped.
    packed_floats_ = (images_ * packed_.image_floats() + packed_.largest_tap_offset() +
                      (vectors_ + 1) * kernels.lanes + 15) /
                     16 * 16;
    sums_floats_ = blocks.rows() * blocks.vector * kMaxCols * kernels.lanes;
    threads_ = threads;
    family = "direct";
    kernel =
        "direct nchw x" + std::to_string(blocks.vector) + " " + std::string(to_string(kernels.isa));
  }

  std::int64_t scratch_floats() const override { return packed_floats_ + threads_ * sums_floats_; }

  void run(const LayerCall& call, ThreadPool& pool) override {
    pool.run_ranges(planes_, packed_floats_ / planes_, [&](std::int64_t begin, std::int64_t end) {
      packed_.pack(call.inputs[0], call.scratch, begin, end);
    });
    plan_.for_work_tiles(pool, [&](const WorkTile& tile, int share) {
      run_one(tile, call, call.scratch + packed_floats_ + share * sums_floats_);
    });
  }

 private:
  // Rows of points are images; an output address is the number of the first flat position.
  void plan_tiles(const BlockCsr& blocks, const ConvShape& shape, int threads) {
    const std::int64_t flat = (out_.h - 1) * packed_.pitch() + out_.w;
    vectors_ = (flat + kernels_.lanes - 1) / kernels_.lanes;
    const std::vector<Tile> tiles =
        cut_tiles(shape.in.n, vectors_, position_limits(kernels_, blocks.vector));
    for (const Tile& tile : tiles) {
      plan_.work_tiles.push_back({static_cast<std::int64_t>(plan_.in_address.size()), 0, tile.rows,
                                  tile.cols, 0, blocks.rows()});
      for (std::int64_t image = tile.row; image < tile.row + tile.rows; ++image) {
        const std::int64_t position = tile.col * kernels_.lanes;
        plan_.in_address.push_back(image * packed_.image_floats() + position);
        plan_.out_address.push_back(image);
      }
    }
    const std::int64_t reach = packed_.largest_tap_offset();
    const std::int64_t bytes =
        tiles.front().rows * (tiles.front().cols * kernels_.lanes + reach) * 4;
    const OffsetRule rule = [&](std::int64_t c, std::int64_t r, std::int64_t s) {
      return packed_.offset(c, r, s);
    };
    plan_.lists.push_back(make_block_lists(
        blocks, shape, rule, {all_taps(shape), chunk_channels(blocks, shape, bytes, kChunkBytes)}));
    finish_plan(plan_, threads);
  }

  void run_one(const WorkTile& tile, const LayerCall& call, float* sums) const {
    const std::int64_t length = std::int64_t{tile.cols} * kernels_.lanes;
    const std::int64_t stride = tile.rows * length;
    float* out[kMaxRows];
    for (int r = 0; r < tile.rows; ++r) out[r] = sums + r * length;
    run_work_tile(kernels_, plan_, tile,
                  {call.scratch, out, stride, bias_.data(), out_.c, has_relu_});

    const int vector = plan_.lists[0].vector;
    const std::int64_t first = tile.first_block_row * vector;
    const std::int64_t last = std::min(out_.c, tile.last_block_row * vector);
    for (int r = 0; r < tile.rows; ++r) {
      const std::int64_t image = plan_.out_address[tile.first_address + r];
      const std::int64_t position =
          plan_.in_address[tile.first_address + r] - image * packed_.image_floats();
      for (std::int64_t k = first; k < last; ++k) {
        copy_rows(sums + (k - first) * stride + r * length, position, length,
                  call.output + (image * out_.c + k) * out_.h * out_.w);
      }
    }
  }

  // Copies flat positions begin .. begin + length - 1 that are outputs into the plane.
  void copy_rows(const float* flat, std::int64_t begin, std::int64_t length, float* plane) const {
    const std::int64_t pitch = packed_.pitch();
    for (std::int64_t y = begin / pitch; y < out_.h && y * pitch < begin + length; ++y) {
      const std::int64_t first = std::max(begin, y * pitch);
      const std::int64_t last = std::min(begin + length, y * pitch + out_.w);
      if (first < last) {
        std::copy(flat + first - begin, flat + last - begin,
                  plane + y * out_.w + first - y * pitch);
      }
    }
  }

  const MicroKernels& kernels_;
  Extents out_;
  bool has_relu_;
  PackedPlanes packed_;
  PositionPlan plan_;
  std::vector<float> bias_;
  std::int64_t vectors_ = 0;
  std::int64_t images_ = 0;
  std::int64_t planes_ = 0;
  std::int64_t packed_floats_ = 0;
  std::int64_t sums_floats_ = 0;
  int threads_ = 1;
};

}  // namespace

std::unique_ptr<CpuLayer> make_nchw_conv(const ConvWork& work, const MicroKernels& kernels,
                                         int threads) {
  return std::make_unique<NchwConv>(work, kernels, threads);
}

}  // namespace winnow
