#include "runtime/gpu/pointwise/convert.h"

#include <algorithm>

#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/pointwise/convert_kernels.cuh"

namespace winnow {
namespace {

constexpr std::uint32_t kMostBlocksZ = 65535;

std::uint32_t octets(std::int64_t count) {
  return static_cast<std::uint32_t>((count + kOctet - 1) / kOctet);
}

// What neighbours in memory are.
enum class Innermost { positions, channels, images };

Innermost innermost(Order order) {
  if (order == Order::nchw) return Innermost::positions;
  return order == Order::nhwc ? Innermost::channels : Innermost::images;
}

struct Move {
  const ChannelSlice& from;
  const ChannelSlice& to;
  Extents size;
  bool is_aligned = false;  // on both sides
  cudaStream_t stream = nullptr;

  Order order_in() const { return from.view.format.layout.order; }
  Order order_out() const { return to.view.format.layout.order; }

  template <typename In>
  DeviceView<const In> source() const {
    return device_view<const In>(from.view, from.first);
  }
  template <typename Out>
  DeviceView<Out> target() const {
    return device_view<Out>(to.view, to.first);
  }
};

PositionTiles tiles_of(const Move& move, std::uint32_t across) {
  const auto positions = static_cast<std::uint32_t>(move.size.h * move.size.w);
  // Few positions would leave most threads of a block without one.
  while (across < kConvertThreads && kConvertThreads / across > positions) across *= 2;
  while (across > 1 && across / 2 >= octets(move.size.c)) across /= 2;
  const std::uint32_t tile = kConvertThreads / across;
  return {.width = FastDivisor(move.size.w),
          .positions = positions,
          .tiles = (positions + tile - 1) / tile,
          .images = static_cast<std::uint32_t>(move.size.n),
          .channels = static_cast<std::uint32_t>(move.size.c),
          .across = across};
}

dim3 grid_of(const PositionTiles& tiles, std::uint32_t count_z) {
  const std::uint32_t across = (octets(tiles.channels) + tiles.across - 1) / tiles.across;
  return dim3(tiles.tiles * across, 1, std::min(count_z, kMostBlocksZ));
}

template <typename In, typename Out>
void copy_elements(const Move& move) {
  const Unraveler order(move.to.view.format.layout, move.size);
  launch_overlapping(copy_kernel<In, Out>, {element_grid(order), kElementThreads}, true,
                     move.stream, move.source<In>(), move.target<Out>(), order);
}

template <typename In, typename Out>
void copy_octets(const Move& move) {
  const OctetGrid grid(move.to.view.format.layout, move.size);
  launch_overlapping(copy_octets_kernel<In, Out>, {element_grid(grid.order), kElementThreads}, true,
                     move.stream, move.source<In>(), move.target<Out>(), grid, move.is_aligned);
}

template <typename In, typename Out>
void convert_images(const Move& move) {
  const bool reads_planes = move.order_in() == Order::nchw;
  const OctetGrid grid(Layout::chwn8, move.size);  // positions beside each other, as in planes
  const auto kernel = reads_planes ? planes_and_images_kernel<In, Out, true>
                                   : planes_and_images_kernel<In, Out, false>;
  launch_overlapping(kernel, {element_grid(grid.order), kElementThreads}, true, move.stream,
                     move.source<In>(), move.target<Out>(), grid, move.is_aligned);
}

// Two octets of channels beside each other fill a sector of 32 bytes of half floats.
constexpr std::uint32_t kPlaneOctets = 2;

template <typename In, typename Out>
void convert_channels(const Move& move) {
  const PositionTiles tiles = tiles_of(move, kPlaneOctets);
  const auto kernel = move.order_in() == Order::nchw ? planes_and_channels_kernel<In, Out, true>
                                                     : planes_and_channels_kernel<In, Out, false>;
  launch_overlapping(kernel, {grid_of(tiles, tiles.images), kConvertThreads}, true, move.stream,
                     move.source<In>(), move.target<Out>(), tiles, move.is_aligned);
}

// Four octets of channels and eight positions: runs of 64 bytes of nhwc, of 128 bytes of chwn8.
constexpr std::uint32_t kTurnOctets = 4;

template <typename In, typename Out>
void turn_octets(const Move& move) {
  const PositionTiles tiles = tiles_of(move, kTurnOctets);
  const auto kernel = move.order_in() == Order::nhwc ? turn_octets_kernel<In, Out, true>
                                                     : turn_octets_kernel<In, Out, false>;
  launch_overlapping(kernel, {grid_of(tiles, octets(tiles.images)), kConvertThreads}, true,
                     move.stream, move.source<In>(), move.target<Out>(), tiles, move.is_aligned);
}

template <typename In, typename Out>
void launch(const Move& move) {
  const Innermost in = innermost(move.order_in()), out = innermost(move.order_out());
  if (in == out) {
    in == Innermost::positions ? copy_elements<In, Out>(move) : copy_octets<In, Out>(move);
  } else if (in != Innermost::positions && out != Innermost::positions) {
    turn_octets<In, Out>(move);
  } else if (in == Innermost::channels || out == Innermost::channels) {
    convert_channels<In, Out>(move);
  } else {
    convert_images<In, Out>(move);
  }
}

}  // namespace

void convert_slice(const ChannelSlice& from, const ChannelSlice& to, cudaStream_t stream) {
  Extents size = from.view.size;
  size.c = from.count;
  Extents target = to.view.size;
  target.c = to.count;
  if (size != target) fail(ErrorCode::usage, "convert: the two tensors differ in size");
  if (size.count() == 0) return;

  const Move move{
      from, to, size,
      has_aligned_octets(from.view, from.first) && has_aligned_octets(to.view, to.first), stream};
  with_element(from.view.format.precision, [&](auto in) {
    with_element(to.view.format.precision,
                 [&](auto out) { launch<decltype(in), decltype(out)>(move); });
  });
}

void convert(const ActivationView& from, const ActivationView& to, cudaStream_t stream) {
  convert_slice({from, 0, from.size.c}, {to, 0, to.size.c}, stream);
}

}  // namespace winnow
