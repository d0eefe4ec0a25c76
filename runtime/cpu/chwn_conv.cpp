#include "runtime/cpu/chwn_conv.h"

#include <algorithm>

#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/position_tiles.h"

namespace winnow {
namespace {

// Measured: reading from the second-level cache costs less than loading and storing the sums more
// often, so a chunk fills a fair part of that cache.
constexpr std::int64_t kChunkBytes = 160 * 1024;

// Plans the points of one border class: all whose windows hold the same taps.
class Planner {
 public:
  Planner(const ConvWork& work, const MicroKernels& kernels, PositionPlan& plan)
      : shape_(work.shape), lanes_(kernels.lanes), plan_(plan) {
    const int vector =
        work.blocks.vector % kernels.block_channels == 0 ? kernels.block_channels : 1;
    blocks_ = fitting_blocks(work.blocks, shape_, vector);
    limits_ = position_limits(kernels, blocks_.vector);
  }

  int vector() const { return blocks_.vector; }

  void add(const BorderSpan& vertical, const BorderSpan& horizontal) {
    const std::int64_t image_groups = (shape_.in.n + lanes_ - 1) / lanes_;
    const std::int64_t height = vertical.end - vertical.begin;
    const std::int64_t width = horizontal.end - horizontal.begin;
    // Neighbouring outputs are neighbouring inputs at stride 1 only; else each is a row.
    const bool in_line = shape_.stride[1] == 1;
    const std::int64_t across = in_line ? 1 : width;
    const std::vector<Tile> tiles =
        cut_tiles(image_groups * height * across, in_line ? width : 1, limits_);
    plan_.lists.push_back(lists_for(vertical, horizontal, tiles.front()));
    for (const Tile& tile : tiles) {
      WorkTile work_tile{static_cast<std::int64_t>(plan_.in_address.size()),
                         static_cast<std::int32_t>(plan_.lists.size() - 1),
                         tile.rows,
                         tile.cols,
                         0,
                         blocks_.rows()};
      plan_.work_tiles.push_back(work_tile);
      for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
        add_address(row / (height * across), vertical.begin + row / across % height,
                    horizontal.begin + tile.col + row % across, vertical, horizontal);
      }
    }
  }

 private:
  void add_address(std::int64_t image_group, std::int64_t y, std::int64_t x,
                   const BorderSpan& vertical, const BorderSpan& horizontal) {
    const Extents& in = shape_.in;
    const Extents& out = shape_.out;
    const std::int64_t top =
        y * shape_.stride[0] - shape_.padding[0] + vertical.first * shape_.dilation[0];
    const std::int64_t left =
        x * shape_.stride[1] - shape_.padding[1] + horizontal.first * shape_.dilation[1];
    const bool is_empty = vertical.first == vertical.last || horizontal.first == horizontal.last;
    const std::int64_t corner = is_empty ? 0 : top * in.w + left;
    const std::int64_t in_plane = image_plane_stride(in.h, in.w);
    const std::int64_t out_plane = image_plane_stride(out.h, out.w);
    plan_.in_address.push_back((image_group * in.c * in_plane + corner) * lanes_);
    plan_.out_address.push_back((image_group * out.c * out_plane + y * out.w + x) * lanes_);
  }

  BlockLists lists_for(const BorderSpan& vertical, const BorderSpan& horizontal,
                       const Tile& tile) const {
    const Extents& in = shape_.in;
    const OffsetRule rule = [&](std::int64_t c, std::int64_t r, std::int64_t s) {
      const std::int64_t down = (r - vertical.first) * shape_.dilation[0];
      const std::int64_t right = (s - horizontal.first) * shape_.dilation[1];
      return (c * image_plane_stride(in.h, in.w) + down * in.w + right) * lanes_;
    };
    const TapWindow taps{vertical.first, vertical.last, horizontal.first, horizontal.last};
    const std::int64_t seen_rows = vertical.last - vertical.first;
    const std::int64_t seen_cols = tile.cols + horizontal.last - horizontal.first - 1;
    const std::int64_t bytes = tile.rows * seen_rows * seen_cols * lanes_ * 4;
    return make_block_lists(blocks_, shape_, rule,
                            {taps, chunk_channels(blocks_, shape_, bytes, kChunkBytes)});
  }

  const ConvShape& shape_;
  const std::int64_t lanes_;
  PositionPlan& plan_;
  BlockCsr blocks_;
  TileLimits limits_;
};

class ChwnConv final : public CpuLayer {
 public:
  ChwnConv(const ConvWork& work, const MicroKernels& kernels, int threads)
      : kernels_(kernels), out_(work.shape.out), has_relu_(work.has_relu) {
    Planner planner(work, kernels, plan_);
    for (const BorderSpan& vertical : border_spans(work.shape, 0)) {
      for (const BorderSpan& horizontal : border_spans(work.shape, 1)) {
        planner.add(vertical, horizontal);
      }
    }
    finish_plan(plan_, threads);
    bias_ = padded_bias(work.bias, plan_.lists.front().block_rows, planner.vector());
    family = "direct";
    input_layout = output_layout = {Order::chwn, kernels.lanes};
    kernel = "direct " + to_string(input_layout) + " x" + std::to_string(planner.vector()) + " " +
             std::string(to_string(kernels.isa));
  }

  void run(const LayerCall& call, ThreadPool& pool) override {
    plan_.for_work_tiles(pool, [&](const WorkTile& tile, int) { run_one(tile, call); });
  }

 private:
  void run_one(const WorkTile& tile, const LayerCall& call) const {
    const std::int64_t stride = image_plane_stride(out_.h, out_.w) * kernels_.lanes;
    const std::int64_t first = tile.first_block_row * plan_.lists[tile.lists].vector * stride;
    float* out[kMaxRows];
    for (int r = 0; r < tile.rows; ++r) {
      out[r] = call.output + plan_.out_address[tile.first_address + r] + first;
    }
    run_work_tile(kernels_, plan_, tile,
                  {call.inputs[0], out, stride, bias_.data(), out_.c, has_relu_});
  }

  const MicroKernels& kernels_;
  Extents out_;
  bool has_relu_;
  PositionPlan plan_;
  std::vector<float> bias_;
};

}  // namespace

std::unique_ptr<CpuLayer> make_chwn_conv(const ConvWork& work, const MicroKernels& kernels,
                                         int threads) {
  return std::make_unique<ChwnConv>(work, kernels, threads);
}

}  // namespace winnow
