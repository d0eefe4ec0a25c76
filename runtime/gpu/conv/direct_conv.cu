#include "runtime/gpu/conv/direct_conv.h"

#include <limits>

#include "runtime/gpu/conv/direct_conv_kernel.cuh"

namespace winnow {
namespace {

std::int64_t conv_extent(std::int64_t in, const Conv& conv, int axis) {
  const std::int64_t reach = conv.dilation[axis] * (conv.kernel[axis] - 1) + 1;
  return (in + 2 * conv.padding[axis] - reach) / conv.stride[axis] + 1;
}

void require(bool is_true, const char* what) {
  if (!is_true) fail(ErrorCode::usage, "direct_conv: ", what);
}

void check(const DirectLayer& layer, const DirectWeights& weights, const ActivationView& in,
           const ActivationView& out) {
  const Conv& conv = layer.conv;
  require(in.size.c == conv.in_channels && out.size.c == conv.out_channels &&
              weights.channels == conv.out_channels,
          "channels of input, weight and output do not fit");
  require(in.size.n == out.size.n && out.size.h == conv_extent(in.size.h, conv, 0) &&
              out.size.w == conv_extent(in.size.w, conv, 1),
          "the output's size does not fit the input");
  require(in.format.layout == out.format.layout && in.format.precision == out.format.precision,
          "input and output differ in layout or element type");
  require(in.format.halo_h >= conv.padding[0] && in.format.halo_w >= conv.padding[1],
          "the input's halo is smaller than the padding");
  require(is_valid(layer.tile, in.format.layout, weights.vector) &&
              layer.tile.channels == weights.thread_channels,
          "the tile does not fit the weight");
  const ActivationStrides strides = strides_of(in.format, in.size);
  require(strides.channel == weights.input.channel && strides.row == weights.input.row &&
              strides.column == weights.input.column,
          "the weight's offsets are for another input");
}

std::int64_t byte_offset(std::int64_t elements, Precision precision) {
  return elements * size_of(precision);
}

std::int32_t checked_31_bits(std::int64_t value, const char* what) {
  if (value > std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorCode::device, "direct_conv: ", value, " ", what, ", more than 31 bits can count");
  }
  return static_cast<std::int32_t>(value);
}

// Everything but the grid.
DirectArguments arguments_for(const DirectLayer& layer, const DirectWeights& weights,
                              const ActivationView& in, const ActivationView& out) {
  const Conv& conv = layer.conv;
  const ActivationStrides from = strides_of(in.format, in.size);
  const ActivationStrides to = strides_of(out.format, out.size);
  const std::int64_t first_input =
      from.origin - conv.padding[0] * from.row - conv.padding[1] * from.column;
  DirectArguments a;
  a.input = static_cast<const char*>(in.data) + byte_offset(first_input, in.format.precision);
  a.output = static_cast<char*>(out.data) + byte_offset(to.origin, out.format.precision);
  a.values = weights.values.get();
  a.offsets = weights.offsets.get();
  a.bounds = weights.bounds.get();
  a.row_length = weights.row_length;
  a.bias = weights.bias.get();
  a.in_image = from.image;
  a.out_image = to.image;
  a.in_group = conv.in_channels / conv.groups * from.channel;
  a.out_channel = to.channel;
  a.in_row = checked_31_bits(from.row * conv.stride[0], "elements between the inputs of two rows");
  a.in_column =
      checked_31_bits(from.column * conv.stride[1], "elements between the inputs of two columns");
  a.out_row = checked_31_bits(to.row, "elements between two rows of the output");
  a.out_column = checked_31_bits(to.column, "elements between two columns of the output");
  a.width = FastDivisor(out.size.w);
  a.plane = FastDivisor(out.size.h * out.size.w);
  a.segments = FastDivisor(weights.vector / weights.thread_channels);
  a.row_segments = FastDivisor(weights.rows * (weights.vector / weights.thread_channels));
  a.images = static_cast<std::uint32_t>(in.size.n);
  a.channels = static_cast<std::int32_t>(weights.channels);
  a.channels_per_group = static_cast<std::int32_t>(conv.out_channels / conv.groups);
  a.vector = weights.vector;
  a.has_relu = layer.has_relu;
  return a;
}

// Threads that store something: positions of all sub-batches.
std::int64_t position_count(const DirectTile& tile, const ActivationView& out) {
  const std::int64_t packed = out.format.layout == Layout::chwn8 ? kPackedImages : tile.sub_batch;
  const std::int64_t groups = (out.size.n + packed - 1) / packed;
  return groups * (packed / tile.sub_batch) * out.size.h * out.size.w;
}

// What a thread block reads of its row, in one load.
std::vector<int4> bounds_in_order(const DirectRows& rows) {
  std::vector<int4> bounds;
  for (const std::int32_t row : rows.order) {
    const auto r = static_cast<std::size_t>(row);
    bounds.push_back(make_int4(row, rows.begin[r], rows.begin[r + 1] - rows.begin[r], 0));
  }
  return bounds;
}

}  // namespace

DirectWeights upload_direct_weights(const DirectRows& rows, std::span<const float> bias,
                                    const Conv& conv, const ActivationStrides& input,
                                    int thread_channels) {
  std::vector<float> all_bias(static_cast<std::size_t>(rows.rows * rows.vector), 0.0f);
  std::copy(bias.begin(), bias.end(), all_bias.begin());
  DirectWeights weights;
  weights.rows = rows.rows;
  weights.channels = rows.channels;
  weights.vector = rows.vector;
  weights.thread_channels = thread_channels;
  weights.row_length = rows.row_length;
  weights.input = input;
  weights.values = upload(values_by_segment(rows, thread_channels));
  weights.offsets = upload(direct_offsets(rows, conv, input));
  weights.bounds = upload(bounds_in_order(rows));
  weights.bias = upload(all_bias);
  return weights;
}

void direct_conv(const DirectLayer& layer, const DirectWeights& weights, const ActivationView& in,
                 const ActivationView& out, cudaStream_t stream) {
  check(layer, weights, in, out);
  const std::int64_t positions = position_count(layer.tile, out);
  if (positions == 0 || weights.rows == 0) return;

  DirectArguments arguments = arguments_for(layer, weights, in, out);
  arguments.positions = static_cast<std::uint32_t>(checked_31_bits(positions, "output positions"));
  const std::int64_t tiles = (positions + layer.tile.positions - 1) / layer.tile.positions;
  const std::int64_t row_segments = weights.rows * (weights.vector / weights.thread_channels);
  const auto blocks = static_cast<std::uint32_t>(
      checked_31_bits(tiles * row_segments * layer.tile.shares, "thread blocks"));
  arguments.shares = layer.tile.shares;
  if (layer.tile.shares > 1 && !has_clusters()) {
    fail(ErrorCode::device, "direct_conv: the GPU has no clusters of thread blocks");
  }
  const DirectLaunch launch{.grid = dim3(blocks),
                            .block = dim3(static_cast<unsigned>(layer.tile.positions),
                                          static_cast<unsigned>(layer.tile.slices)),
                            .cluster = layer.tile.shares,
                            .stream = stream};
  const bool is_packed = in.format.layout == Layout::chwn8;
  if (in.format.precision == Precision::f32) {
    launch_direct_f32(layer.tile, is_packed, arguments, launch);
  } else {
    launch_direct_f16(layer.tile, is_packed, arguments, launch);
  }
}

}  // namespace winnow
