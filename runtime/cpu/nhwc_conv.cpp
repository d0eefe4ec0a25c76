#include "runtime/cpu/nhwc_conv.h"

#include <algorithm>

#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/packed_input.h"
#include "runtime/cpu/position_tiles.h"

namespace winnow {
namespace {

class NhwcConv final : public CpuLayer {
 public:
  NhwcConv(const ConvWork& work, const MicroKernels& kernels, int threads)
      : shape_(work.shape),
        has_relu_(work.has_relu),
        packed_(work.shape),
        is_packed_(shape_.kernel != Pair{1, 1} || shape_.is_padded()) {
    const bool pairs = work.blocks.vector % (2 * kernels.lanes) == 0;
    table_ = pairs ? kernels.channel_pairs : kernels.channels;
    const OffsetRule rule = [&](std::int64_t c, std::int64_t r, std::int64_t s) {
      return is_packed_ ? packed_.offset(c, r, s) : c;
    };
    plan_.lists.push_back(make_block_lists(work.blocks, shape_, rule, {all_taps(shape_), 0}));
    bias_ = padded_bias(work.bias, work.blocks.rows(), work.blocks.vector);
    // With images enough each thread packs one at a time, which stays in its cache.
    by_image_ = shape_.in.n >= 2 * threads;
    plan_tiles(threads);
    threads_ = threads;
    family = "direct";
    input_layout = simplest(Layout::nhwc, shape_.in);
    output_layout = simplest(Layout::nhwc, shape_.out);
    kernel = "direct nhwc x" + std::to_string(work.blocks.vector) + " " +
             std::string(to_string(kernels.isa));
  }

  std::int64_t scratch_floats() const override {
    if (!is_packed_) return 0;
    return packed_.image_floats() * (by_image_ ? threads_ : shape_.in.n);
  }

  void run(const LayerCall& call, ThreadPool& pool) override {
    if (by_image_) {
      pool.run([&](int share) { run_images(call, share); });
      return;
    }
    if (is_packed_) {
      pool.run_ranges(packed_.planes(), packed_.plane_floats(),
                      [&](std::int64_t begin, std::int64_t end) {
                        packed_.pack(call.inputs[0], call.scratch, begin, end);
                      });
    }
    const float* input = is_packed_ ? call.scratch : call.inputs[0];
    plan_.for_work_tiles(pool,
                         [&](const WorkTile& tile, int) { run_one(tile, input, call.output); });
  }

 private:
  // Tiles of all images, or of one when a thread takes one image after the other.
  void plan_tiles(int threads) {
    const Extents& out = shape_.out;
    const std::int64_t images = by_image_ && is_packed_ ? 1 : shape_.in.n;
    const bool in_line = is_packed_ && shape_.stride[1] == 1;
    const std::int64_t across = in_line ? 1 : out.w;
    int points = 1;
    while (points < kMaxCols && table_[1][points + 1]) ++points;
    const TileLimits limits{kTileRows, points, points};
    for (const Tile& tile : cut_tiles(images * out.h * across, in_line ? out.w : 1, limits)) {
      plan_.work_tiles.push_back({static_cast<std::int64_t>(plan_.in_address.size()), 0, tile.rows,
                                  tile.cols, 0, plan_.lists[0].block_rows});
      for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
        add_address(row / (out.h * across), row / across % out.h, tile.col + row % across);
      }
    }
    by_image_ = by_image_ && is_packed_;
    finish_plan(plan_, by_image_ ? 1 : threads);
  }

  void add_address(std::int64_t image, std::int64_t y, std::int64_t x) {
    const Extents& in = shape_.in;
    const std::int64_t top = y * shape_.stride[0], left = x * shape_.stride[1];
    plan_.in_address.push_back(is_packed_
                                   ? image * packed_.image_floats() +
                                         (top * packed_.pitch() + left) * PackedPixels::kLanes
                                   : ((image * in.h + top) * in.w + left) * in.c);
    plan_.out_address.push_back(((image * shape_.out.h + y) * shape_.out.w + x) * shape_.out.c);
  }

  void run_images(const LayerCall& call, int share) const {
    const std::int64_t images = shape_.in.n, groups = packed_.planes_of_image();
    float* packed = call.scratch + share * packed_.image_floats();
    for (std::int64_t n = images * share / threads_; n < images * (share + 1) / threads_; ++n) {
      const std::int64_t in = shape_.in.c * shape_.in.h * shape_.in.w;
      const std::int64_t out = shape_.out.c * shape_.out.h * shape_.out.w;
      packed_.pack(call.inputs[0] + n * in, packed, 0, groups);
      for (const WorkTile& tile : plan_.work_tiles) run_one(tile, packed, call.output + n * out);
    }
  }

  void run_one(const WorkTile& tile, const float* input, float* output) const {
    const BlockLists& lists = plan_.lists[0];
    const std::int64_t channel = tile.first_block_row * lists.vector;
    const float* in[kMaxRows];
    float* out[kMaxRows];
    for (int r = 0; r < tile.rows; ++r) {
      in[r] = input + plan_.in_address[tile.first_address + r];
      out[r] = output + plan_.out_address[tile.first_address + r] + channel;
    }
    ChannelArgs args{};
    args.in = in;
    args.out = out;
    args.begin = lists.begin.data() + tile.first_block_row;
    args.offset = lists.offset.data();
    args.value = lists.value.data();
    args.block_rows = tile.last_block_row - tile.first_block_row;
    args.vector = lists.vector;
    args.channels = shape_.out.c - channel;
    args.out_step = shape_.out.c;
    args.bias = bias_.data() + channel;
    args.has_relu = has_relu_;
    table_[tile.rows][tile.cols](args);
  }

  ConvShape shape_;
  bool has_relu_;
  PackedPixels packed_;
  bool is_packed_;  // else the input is read in place, one channel after the other
  bool by_image_ = false;
  const ChannelKernel (*table_)[kMaxCols + 1] = nullptr;
  PositionPlan plan_;
  std::vector<float> bias_;
  int threads_ = 1;
};

}  // namespace

bool nhwc_conv_fits(const ConvWork& work, const MicroKernels& kernels) {
  const int vector = work.blocks.vector;
  return vector % kernels.lanes == 0 &&
         (work.shape.groups == 1 || work.shape.group_outputs() % vector == 0);
}

std::unique_ptr<CpuLayer> make_nhwc_conv(const ConvWork& work, const MicroKernels& kernels,
                                         int threads) {
  return std::make_unique<NhwcConv>(work, kernels, threads);
}

}  // namespace winnow
