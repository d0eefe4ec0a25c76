#include "runtime/cpu/row_conv.h"

#include <algorithm>
#include <vector>

#include "runtime/base/divided_up.h"
#include "runtime/cpu/copy_rows.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/row_kernel.h"

namespace winnow {
namespace {

// The padded input as [N][C][vertical phases][horizontal phases][rows][pitch]: row j of phase a
// holds the input's row j * stride - padding + a, columns likewise.
struct PhasePlanes {
  explicit PhasePlanes(const ConvShape& shape)
      : rows(shape.out.h + (shape.kernel[0] - 1) * shape.dilation[0] / shape.stride[0]),
        pitch(divided_up(shape.out.w, kRowLanes) * kRowLanes +
              (shape.kernel[1] - 1) * shape.dilation[1] / shape.stride[1]),
        // Planes an odd number of cache lines apart lie in different sets.
        plane((divided_up(rows * pitch, kRowLanes) | 1) * kRowLanes),
        channel(shape.stride[0] * shape.stride[1] * plane) {}

  std::int64_t rows, pitch;
  std::int64_t plane, channel;  // floats
};

// Vectors first .. first + count - 1 of a row.
struct Columns {
  std::int64_t first = 0;
  int count = 0;
};

class RowConv final : public CpuLayer {
 public:
  RowConv(const ConvWork& work, bool reads_plain)
      : shape_(work.shape), planes_(shape_), has_relu_(work.has_relu) {
    family = "dense";
    input_layout = reads_plain ? Layout::nchw : Layout::gaps;
    output_layout = Layout::gaps;
    kernel = "own rows " + to_string(input_layout) + " avx512";
    in_ = planes_of(input_layout, shape_.in);
    out_ = planes_of(output_layout, shape_.out);
    make_weights(work);
    make_offsets();
    make_columns();
  }

  std::int64_t scratch_floats() const override {
    return shape_.in.n * shape_.in.c * planes_.channel + kRowLanes;
  }

  void run(const LayerCall& call, ThreadPool& pool) override {
    pool.run_ranges(shape_.in.n * shape_.in.c, planes_.channel,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t plane = begin; plane < end; ++plane) pack(call, plane);
                    });
    clear_first_gap(out_, call.output);
    pool.run_ranges(
        out_.planes, out_.stride - out_.plane_floats(),
        [&](std::int64_t begin, std::int64_t end) { clear_gaps(out_, call.output, begin, end); });
    const std::int64_t row_cost = shape_.out.w * shape_.out.c * shape_.cols() / kRowLanes;
    pool.run_ranges(shape_.out.n * shape_.out.h, row_cost,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; ++row) run_row(call, row);
                    });
  }

 private:
  // [columns of the weight][channels], zeros behind the last channel.
  void make_weights(const ConvWork& work) {
    const std::int64_t cols = shape_.cols(), channels = shape_.out.c;
    padded_channels_ = channels + kMaxRowChannels;
    weights_.resize(static_cast<std::size_t>(cols * padded_channels_));
    const std::vector<float> dense = dense_weight(work.blocks);
    for (std::int64_t k = 0; k < channels; ++k) {
      for (std::int64_t col = 0; col < cols; ++col) {
        weights_[col * padded_channels_ + k] = dense[k * cols + col];
      }
    }
    bias_ = work.bias;
    bias_.resize(static_cast<std::size_t>(padded_channels_));
  }

  void make_offsets() {
    for (std::int64_t c = 0; c < shape_.in.c; ++c) {
      for (std::int64_t r = 0; r < shape_.kernel[0]; ++r) {
        for (std::int64_t s = 0; s < shape_.kernel[1]; ++s) {
          const std::int64_t down = r * shape_.dilation[0], right = s * shape_.dilation[1];
          const std::int64_t phase =
              down % shape_.stride[0] * shape_.stride[1] + right % shape_.stride[1];
          offsets_.push_back(c * planes_.channel + phase * planes_.plane +
                             down / shape_.stride[0] * planes_.pitch + right / shape_.stride[1]);
        }
      }
    }
  }

  void make_columns() {
    const std::int64_t vectors = divided_up(shape_.out.w, kRowLanes);
    const std::int64_t tiles = divided_up(vectors, kMaxRowVectors);
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t first = vectors * i / tiles;
      columns_.push_back({first, static_cast<int>(vectors * (i + 1) / tiles - first)});
    }
    const std::int64_t rest = shape_.out.w - (vectors - 1) * kRowLanes;
    last_lanes_ = static_cast<std::uint16_t>((1u << rest) - 1);
  }

  void pack(const LayerCall& call, std::int64_t plane) const {
    float* to = call.scratch + plane * planes_.channel;
    for (std::int64_t a = 0; a < shape_.stride[0]; ++a) {
      for (std::int64_t b = 0; b < shape_.stride[1]; ++b, to += planes_.plane) {
        copy_rows({.plane = call.inputs[0] + in_.origin + plane * in_.stride,
                   .h = shape_.in.h,
                   .w = shape_.in.w,
                   .first_row = a - shape_.padding[0],
                   .row_step = shape_.stride[0],
                   .first_col = b - shape_.padding[1],
                   .step = shape_.stride[1],
                   .rows = planes_.rows,
                   .width = planes_.pitch},
                  to);
      }
    }
  }

  // Row `row` of all images' rows of outputs.
  void run_row(const LayerCall& call, std::int64_t row) const {
    const std::int64_t image = row / shape_.out.h, y = row % shape_.out.h;
    const float* in = call.scratch + image * shape_.in.c * planes_.channel + y * planes_.pitch;
    float* out = call.output + out_.origin + image * shape_.out.c * out_.stride + y * shape_.out.w;
    for (const Columns& columns : columns_) {
      const bool is_last = &columns == &columns_.back();
      const int step = row_channels(columns.count);
      for (std::int64_t k = 0; k < shape_.out.c; k += step) {
        run_row_tile(columns.count, {.in = in + columns.first * kRowLanes,
                                     .offset = offsets_.data(),
                                     .taps = static_cast<std::int64_t>(offsets_.size()),
                                     .weights = weights_.data() + k,
                                     .weight_stride = padded_channels_,
                                     .bias = bias_.data() + k,
                                     .out = out + k * out_.stride + columns.first * kRowLanes,
                                     .channel_stride = out_.stride,
                                     .channels = std::min<std::int64_t>(step, shape_.out.c - k),
                                     .last_lanes = is_last ? last_lanes_ : std::uint16_t{0xffff},
                                     .has_relu = has_relu_});
      }
    }
  }

  ConvShape shape_;
  PhasePlanes planes_;
  bool has_relu_;
  Planes in_, out_;
  std::int64_t padded_channels_ = 0;
  std::vector<float> weights_, bias_;
  std::vector<std::int64_t> offsets_;  // of every column of the weight
  std::vector<Columns> columns_;
  std::uint16_t last_lanes_ = 0;
};

}  // namespace

bool row_conv_fits(const ConvWork& work) {
  constexpr std::int64_t kFewWeights = 64 * 1024;
  const ConvShape& shape = work.shape;
  const bool has_sizes = shape.in.c > 0 && shape.out.c > 0 && shape.out.h * shape.out.w > 1;
  return has_sizes && available_isas().back() == Isa::avx512 && shape.groups == 1 &&
         shape.stride[1] <= 2 && shape.out.c * shape.cols() <= kFewWeights;
}

std::unique_ptr<CpuLayer> make_row_conv(const ConvWork& work, bool reads_plain) {
  return std::make_unique<RowConv>(work, reads_plain);
}

}  // namespace winnow
