// Between channel-last and the other layouts a block turns a tile of 32 channels x 32 positions
// around in shared memory, so that both sides are read and written in runs. Between nchw and chwn8
// or chwn32 a thread moves one position of up to 8 images: the eight lanes are one vector on one
// side and eight coalesced streams on the other.
#include "runtime/gpu/pointwise/convert.h"

#include "runtime/device/cuda_check.h"
#include "runtime/gpu/layer/indexing.cuh"

namespace winnow {
namespace {

constexpr int kTile = 32;
constexpr int kTileRows = 8;  // threads of a tile in y

// ---------------------------------------------------------------------------------- device

struct TileArguments {
  FastDivisor width;
  std::uint32_t images, channels, positions;
  bool reads_channels_last;
};

template <typename In, typename Out>
__global__ void __launch_bounds__(kTile* kTileRows)
    transpose_kernel(DeviceView<const In> from, DeviceView<Out> to, TileArguments sizes) {
  __shared__ float tile[kTile][kTile + 1];  // [channel][position], padded against bank conflicts
  const std::uint32_t channel0 = blockIdx.y * kTile;
  const std::uint32_t position0 = blockIdx.x * kTile;
  const auto channel_at = [&](bool is_fast, std::uint32_t slow) {
    return is_fast ? threadIdx.x : slow;
  };
  const auto offset_of = [&](const auto& view, std::uint32_t n, std::uint32_t c, std::uint32_t p) {
    const std::uint32_t x = sizes.width.split(p);
    return view.offset(n, c, p, x);
  };
  for (std::uint32_t n = blockIdx.z; n < sizes.images; n += gridDim.z) {
    for (std::uint32_t slow = threadIdx.y; slow < kTile; slow += kTileRows) {
      const std::uint32_t c = channel_at(sizes.reads_channels_last, slow);
      const std::uint32_t p = channel_at(!sizes.reads_channels_last, slow);
      if (channel0 + c < sizes.channels && position0 + p < sizes.positions) {
        tile[c][p] = widen(from.origin[offset_of(from, n, channel0 + c, position0 + p)]);
      }
    }
    __syncthreads();
    for (std::uint32_t slow = threadIdx.y; slow < kTile; slow += kTileRows) {
      const std::uint32_t c = channel_at(!sizes.reads_channels_last, slow);
      const std::uint32_t p = channel_at(sizes.reads_channels_last, slow);
      if (channel0 + c < sizes.channels && position0 + p < sizes.positions) {
        to.origin[offset_of(to, n, channel0 + c, position0 + p)] = narrow<Out>(tile[c][p]);
      }
    }
    __syncthreads();
  }
}

template <typename In, typename Out>
__global__ void __launch_bounds__(kElementThreads)
    copy_kernel(DeviceView<const In> from, DeviceView<Out> to, Unraveler order) {
  for_each_element(order, [&](const Coordinates& at) {
    to.origin[to.offset(at.n, at.c, at.y, at.x)] =
        narrow<Out>(widen(from.origin[from.offset(at.n, at.c, at.y, at.x)]));
  });
}

// `order` counts groups of 8 images as if they were single images of nchw.
template <typename In, typename Out>
__global__ void __launch_bounds__(kElementThreads)
    repack_kernel(DeviceView<const In> from, DeviceView<Out> to, Unraveler order,
                  std::uint32_t images) {
  for_each_element(order, [&](const Coordinates& at) {
    const std::uint32_t first = at.n * kPackedImages;
    float lanes[kPackedImages];
#pragma unroll
    for (int lane = 0; lane < kPackedImages; ++lane) {
      const std::uint32_t n = first + lane;
      lanes[lane] = n < images ? widen(from.origin[from.offset(n, at.c, at.y, at.x)]) : 0.0f;
    }
#pragma unroll
    for (int lane = 0; lane < kPackedImages; ++lane) {
      const std::uint32_t n = first + lane;
      if (n < images) to.origin[to.offset(n, at.c, at.y, at.x)] = narrow<Out>(lanes[lane]);
    }
  });
}

// ------------------------------------------------------------------------------------ host

template <typename In, typename Out>
void launch_transpose(const ChannelSlice& from, const ChannelSlice& to, const Extents& size,
                      cudaStream_t stream) {
  const TileArguments sizes{.width = FastDivisor(size.w),
                            .images = static_cast<std::uint32_t>(size.n),
                            .channels = static_cast<std::uint32_t>(size.c),
                            .positions = static_cast<std::uint32_t>(size.h * size.w),
                            .reads_channels_last = from.view.format.layout == Layout::nhwc};
  const dim3 grid((sizes.positions + kTile - 1) / kTile, (sizes.channels + kTile - 1) / kTile,
                  sizes.images < 65535u ? sizes.images : 65535u);
  transpose_kernel<In, Out><<<grid, dim3(kTile, kTileRows), 0, stream>>>(
      device_view<const In>(from.view, from.first), device_view<Out>(to.view, to.first), sizes);
}

template <typename In, typename Out>
void launch_copy(const ChannelSlice& from, const ChannelSlice& to, const Extents& size,
                 cudaStream_t stream) {
  const auto source = device_view<const In>(from.view, from.first);
  const auto target = device_view<Out>(to.view, to.first);
  if (from.view.format.layout == to.view.format.layout) {
    const Unraveler order(to.view.format.layout, size);
    copy_kernel<In, Out>
        <<<element_grid(order), kElementThreads, 0, stream>>>(source, target, order);
    return;
  }
  Extents groups = size;
  groups.n = (size.n + kPackedImages - 1) / kPackedImages;
  const Unraveler order(Layout::nchw, groups);
  repack_kernel<In, Out><<<element_grid(order), kElementThreads, 0, stream>>>(
      source, target, order, static_cast<std::uint32_t>(size.n));
}

bool has_elements(const Extents& size) {
  return size.n > 0 && size.c > 0 && size.h > 0 && size.w > 0;
}

}  // namespace

void convert_slice(const ChannelSlice& from, const ChannelSlice& to, cudaStream_t stream) {
  Extents size = from.view.size;
  size.c = from.count;
  Extents target = to.view.size;
  target.c = to.count;
  if (size != target) fail(ErrorCode::usage, "convert: the two tensors differ in size");
  if (!has_elements(size)) return;

  const bool turns =
      (from.view.format.layout == Layout::nhwc) != (to.view.format.layout == Layout::nhwc);
  with_element(from.view.format.precision, [&](auto in) {
    with_element(to.view.format.precision, [&](auto out) {
      if (turns) {
        launch_transpose<decltype(in), decltype(out)>(from, to, size, stream);
      } else {
        launch_copy<decltype(in), decltype(out)>(from, to, size, stream);
      }
    });
  });
  CUDA_CHECK(cudaGetLastError());
}

void convert(const ActivationView& from, const ActivationView& to, cudaStream_t stream) {
  convert_slice({from, 0, from.size.c}, {to, 0, to.size.c}, stream);
}

}  // namespace winnow
