// The ways in which convert() moves elements. A thread moves eight of them at a time, or 64.
// All kernels wait for the launches before (overlapping_launch.h).
#pragma once

#include "runtime/gpu/layer/octet_grid.cuh"

namespace winnow {

inline constexpr int kConvertThreads = 256;

// Element by element, in the order of `order`.
template <typename In, typename Out>
__global__ void __launch_bounds__(kElementThreads)
    copy_kernel(DeviceView<const In> from, DeviceView<Out> to, Unraveler order) {
  for_each_element(order, [&](const Coordinates& at) {
    to.origin[to.offset(at.n, at.c, at.y, at.x)] =
        narrow<Out>(widen(from.origin[from.offset(at.n, at.c, at.y, at.x)]));
  });
}

// Octet by octet, between layouts whose octets are of the same dimension.
template <typename In, typename Out>
__global__ void __launch_bounds__(kElementThreads)
    copy_octets_kernel(DeviceView<const In> from, DeviceView<Out> to, OctetGrid grid,
                       bool is_aligned) {
  for_each_octet(grid, [&](const Coordinates& at, int count) {
    const Octet octet =
        load_octet(from.origin + from.offset(at.n, at.c, at.y, at.x), count, is_aligned);
    store_octet(to.origin + to.offset(at.n, at.c, at.y, at.x), octet, count, is_aligned);
  });
}

// An octet between nchw, where its elements lie `step` apart, and a layout where they lie together.
// kReadsPlanes: from nchw.
template <bool kReadsPlanes, typename In, typename Out>
__device__ __forceinline__ void move_octet(const In* from, Out* to, std::int64_t step, int count,
                                           bool is_aligned) {
  if constexpr (kReadsPlanes) {
    store_octet(to, gather_octet(from, step, count), count, is_aligned);
  } else {
    scatter_octet(to, step, load_octet(from, count, is_aligned), count);
  }
}

// Between nchw and octets of images (chwn). kReadsPlanes: from nchw.
template <typename In, typename Out, bool kReadsPlanes>
__global__ void __launch_bounds__(kElementThreads)
    planes_and_images_kernel(DeviceView<const In> from, DeviceView<Out> to, OctetGrid grid,
                             bool is_aligned) {
  for_each_octet(grid, [&](const Coordinates& at, int count) {
    move_octet<kReadsPlanes>(from.origin + from.offset(at.n, at.c, at.y, at.x),
                             to.origin + to.offset(at.n, at.c, at.y, at.x),
                             kReadsPlanes ? from.image : to.image, count, is_aligned);
  });
}

// What a block of the next two kernels covers: `across` octets of channels times
// kConvertThreads / across positions. A warp has 32 / across positions, neighbours in memory on one
// side. blockIdx.x counts tiles of positions, then octets; blockIdx.z images, or octets of them.
struct PositionTiles {
  FastDivisor width;
  std::uint32_t positions, tiles, images, channels, across;

  __device__ __forceinline__ std::uint32_t channel() const {
    return (blockIdx.x / tiles * across + threadIdx.x % across) * kOctet;
  }
  __device__ __forceinline__ std::uint32_t position() const {
    return blockIdx.x % tiles * (kConvertThreads / across) + threadIdx.x / across;
  }
};

// Calls `body(coordinates, channels)` for the octet of channels and the positions of a thread, and
// every `images`-th image.
template <typename Body>
__device__ __forceinline__ void for_each_image(const PositionTiles& tiles, std::uint32_t images,
                                               Body body) {
  begin_next_launch();
  wait_for_launch_before();
  std::uint32_t y = tiles.position();
  const std::uint32_t c = tiles.channel();
  if (y >= tiles.positions || c >= tiles.channels) return;
  const std::uint32_t x = tiles.width.split(y);
  for (std::uint32_t n = blockIdx.z * images; n < tiles.images; n += gridDim.z * images) {
    body(Coordinates{n, c, y, x}, static_cast<int>(tiles.channels - c));
  }
}

// Between nchw and octets of channels (nhwc). kReadsPlanes: from nchw.
template <typename In, typename Out, bool kReadsPlanes>
__global__ void __launch_bounds__(kConvertThreads)
    planes_and_channels_kernel(DeviceView<const In> from, DeviceView<Out> to, PositionTiles tiles,
                               bool is_aligned) {
  for_each_image(tiles, 1, [&](const Coordinates& at, int count) {
    move_octet<kReadsPlanes>(from.origin + from.offset(at.n, at.c, at.y, at.x),
                             to.origin + to.offset(at.n, at.c, at.y, at.x),
                             kReadsPlanes ? from.channel : to.channel, count, is_aligned);
  });
}

// Between nhwc and chwn: a thread turns eight channels of eight images around in its registers.
template <typename In, typename Out, bool kReadsChannels>
__global__ void __launch_bounds__(kConvertThreads)
    turn_octets_kernel(DeviceView<const In> from, DeviceView<Out> to, PositionTiles tiles,
                       bool is_aligned) {
  for_each_image(tiles, kOctet, [&](const Coordinates& at, int all_channels) {
    const std::uint32_t n = at.n, c = at.c, y = at.y, x = at.x;
    const int channels = min(all_channels, kOctet);
    const int images = static_cast<int>(min(tiles.images - n, std::uint32_t{kOctet}));
    const int rows = kReadsChannels ? images : channels;     // octets that are read
    const int columns = kReadsChannels ? channels : images;  // their elements
    Octet row[kOctet];
#pragma unroll
    for (int i = 0; i < kOctet; ++i) {
      const std::uint32_t n_i = kReadsChannels ? n + i : n, c_i = kReadsChannels ? c : c + i;
      row[i] = i < rows ? load_octet(from.origin + from.offset(n_i, c_i, y, x), columns, is_aligned)
                        : Octet{};
    }
#pragma unroll
    for (int j = 0; j < kOctet; ++j) {
      Octet column;
#pragma unroll
      for (int i = 0; i < kOctet; ++i) column.lane[i] = row[i].lane[j];
      const std::uint32_t n_j = kReadsChannels ? n : n + j, c_j = kReadsChannels ? c + j : c;
      if (j < columns) {
        store_octet(to.origin + to.offset(n_j, c_j, y, x), column, rows, is_aligned);
      }
    }
  });
}

}  // namespace winnow
