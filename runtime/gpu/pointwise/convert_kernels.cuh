// The ways in which convert() moves elements. A thread moves eight of them at a time, or 64.
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

// Between nchw and octets of images (chwn). kReadsPlanes: from nchw.
template <typename In, typename Out, bool kReadsPlanes>
__global__ void __launch_bounds__(kElementThreads)
    planes_and_images_kernel(DeviceView<const In> from, DeviceView<Out> to, OctetGrid grid,
                             bool is_aligned) {
  for_each_octet(grid, [&](const Coordinates& at, int count) {
    const In* const source = from.origin + from.offset(at.n, at.c, at.y, at.x);
    Out* const target = to.origin + to.offset(at.n, at.c, at.y, at.x);
    if constexpr (kReadsPlanes) {
      store_octet(target, gather_octet(source, from.image, count), count, is_aligned);
    } else {
      scatter_octet(target, to.image, load_octet(source, count, is_aligned), count);
    }
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

// Between nchw and octets of channels (nhwc). kReadsPlanes: from nchw.
template <typename In, typename Out, bool kReadsPlanes>
__global__ void __launch_bounds__(kConvertThreads)
    planes_and_channels_kernel(DeviceView<const In> from, DeviceView<Out> to, PositionTiles tiles,
                               bool is_aligned) {
  std::uint32_t y = tiles.position();
  const std::uint32_t c = tiles.channel();
  if (y >= tiles.positions || c >= tiles.channels) return;
  const std::uint32_t x = tiles.width.split(y);
  const int count = static_cast<int>(tiles.channels - c);
  for (std::uint32_t n = blockIdx.z; n < tiles.images; n += gridDim.z) {
    const In* const source = from.origin + from.offset(n, c, y, x);
    Out* const target = to.origin + to.offset(n, c, y, x);
    if constexpr (kReadsPlanes) {
      store_octet(target, gather_octet(source, from.channel, count), count, is_aligned);
    } else {
      scatter_octet(target, to.channel, load_octet(source, count, is_aligned), count);
    }
  }
}

// Between nhwc and chwn: a thread turns eight channels of eight images around in its registers.
template <typename In, typename Out, bool kReadsChannels>
__global__ void __launch_bounds__(kConvertThreads)
    turn_octets_kernel(DeviceView<const In> from, DeviceView<Out> to, PositionTiles tiles,
                       bool is_aligned) {
  std::uint32_t y = tiles.position();
  const std::uint32_t c = tiles.channel();
  if (y >= tiles.positions || c >= tiles.channels) return;
  const std::uint32_t x = tiles.width.split(y);
  const int channels = static_cast<int>(min(tiles.channels - c, std::uint32_t{kOctet}));
  for (std::uint32_t n = blockIdx.z * kOctet; n < tiles.images; n += gridDim.z * kOctet) {
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
  }
}

}  // namespace winnow
