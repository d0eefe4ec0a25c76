// Device side of activation.h: typed views, and coordinates from flat indices.
//
// Kernels that touch every output element share one grid: x covers the elements of one group of
// images in memory order, y covers the groups (an image, or the images packed together).
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/device/half_cast.cuh"
#include "runtime/device/overlap.cuh"
#include "runtime/gpu/layer/activation.h"

namespace winnow {

// Division of n < 2^31 by a fixed number: q = (high(n m) + n) >> shift, after Granlund and
// Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
struct FastDivisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  FastDivisor() = default;
  explicit FastDivisor(std::int64_t by) : divisor(by > 0 ? static_cast<std::uint32_t>(by) : 1) {
    while ((std::uint64_t{1} << shift) < divisor) ++shift;
    const std::uint64_t power = std::uint64_t{1} << shift;
    multiplier =
        static_cast<std::uint32_t>((std::uint64_t{1} << 32) * (power - divisor) / divisor + 1);
  }

  __device__ __forceinline__ std::uint32_t quotient(std::uint32_t n) const {
    return (__umulhi(n, multiplier) + n) >> shift;
  }
  // Replaces n by its quotient and returns the remainder.
  __device__ __forceinline__ std::uint32_t split(std::uint32_t& n) const {
    const std::uint32_t q = quotient(n);
    const std::uint32_t remainder = n - q * divisor;
    n = q;
    return remainder;
  }
};

// A tensor with the distances between its elements, counted in elements.
template <typename T>
struct DeviceView {
  T* origin = nullptr;             // of image 0, row 0, column 0 and the first channel of a block
  std::int64_t image = 0;          // between groups of images that lie side by side
  std::int64_t channel = 0;        // between channels of a block
  std::int64_t channel_block = 0;  // between blocks of channels
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::uint32_t packed_bits = 0;         // 3 for chwn8: 8 images share a group; 5 for chwn32
  std::uint32_t blocked_bits = 0;        // 5 for nchw32c8n: 32 channels share a block
  std::uint32_t first = 0;               // the view's first channel from the origin's
  const std::int32_t* places = nullptr;  // where channels lie; null: by themselves

  __device__ __forceinline__ std::int64_t offset(std::uint32_t n, std::uint32_t c, std::int64_t y,
                                                 std::int64_t x) const {
    const std::uint32_t lane = n & ((1u << packed_bits) - 1);
    c += first;
    if (places != nullptr) c = static_cast<std::uint32_t>(__ldg(places + c));
    const std::uint32_t in_block = c & ((1u << blocked_bits) - 1);
    return (n >> packed_bits) * image + lane + (c >> blocked_bits) * channel_block +
           in_block * channel + y * row + x * column;
  }
};

template <typename T>
DeviceView<T> device_view(const ActivationView& view, std::int64_t first_channel = 0) {
  const ActivationStrides strides = strides_of(view.format, view.size);
  DeviceView<T> result;
  const std::int64_t block = blocked_channels(view.format.layout);
  // Channels in another order are counted from the first of all.
  const std::int64_t whole_blocks = view.places == nullptr ? first_channel / block : 0;
  result.origin =
      static_cast<T*>(view.data) + strides.origin + whole_blocks * strides.channel_block;
  result.first = static_cast<std::uint32_t>(first_channel - whole_blocks * block);
  result.places = view.places;
  result.image = strides.image;
  result.channel = strides.channel;
  result.channel_block = strides.channel_block;
  result.row = strides.row;
  result.column = strides.column;
  while (1 << result.packed_bits < packed_images(view.format.layout)) ++result.packed_bits;
  while (1 << result.blocked_bits < block) ++result.blocked_bits;
  return result;
}

struct Coordinates {
  std::uint32_t n, c, y, x;
};

// Turns (group, index within the group) into coordinates, in the memory order of a layout.
struct Unraveler {
  FastDivisor channels, height, width;
  std::uint32_t images = 0;
  std::uint32_t groups = 0;
  std::uint32_t per_group = 0;
  std::uint32_t packed = 1;  // images, a power of 2
  std::uint32_t channel_count = 0;
  Order order = Order::nchw;

  // Blocks of channels that would be mostly empty are walked over as if there were none.
  Unraveler(const Layout& layout, const Extents& size)
      : channels(size.c), height(size.h), width(size.w), order(layout.order) {
    packed = static_cast<std::uint32_t>(packed_images(layout));
    channel_count = static_cast<std::uint32_t>(size.c);
    if (order == Order::nchwcn && size.c < kBlockedChannels) order = Order::chwn;
    const std::int64_t block = order == Order::nchwcn ? kBlockedChannels : 1;
    const std::int64_t whole = (size.c + block - 1) / block * block;
    const std::int64_t elements = element_count({whole, size.h, size.w, packed});
    if (elements > std::numeric_limits<std::int32_t>::max()) {
      fail(ErrorCode::device, "an image of ", elements, " values is too large for the GPU backend");
    }
    images = static_cast<std::uint32_t>(size.n);
    groups = static_cast<std::uint32_t>((size.n + packed - 1) / packed);
    per_group = static_cast<std::uint32_t>(elements);
  }

  __device__ __forceinline__ Coordinates at(std::uint32_t group, std::uint32_t i) const {
    Coordinates at{group, 0, 0, 0};
    if (order == Order::nhwc) {
      at.c = channels.split(i);
      at.x = width.split(i);
      at.y = i;
      return at;
    }
    if (packed > 1) {
      at.n = group * packed + (i & (packed - 1));
      i >>= 31 - __clz(static_cast<int>(packed));
    }
    if (order == Order::nchwcn) {
      at.c = i % kBlockedChannels;
      i /= kBlockedChannels;
    }
    at.x = width.split(i);
    at.y = height.split(i);
    at.c += order == Order::nchwcn ? i * kBlockedChannels : i;
    return at;
  }
};

inline constexpr int kElementThreads = 256;

inline dim3 element_grid(const Unraveler& unraveler) {
  const std::uint32_t blocks = (unraveler.per_group + kElementThreads - 1) / kElementThreads;
  return dim3(blocks, unraveler.groups < 65535u ? unraveler.groups : 65535u);
}

// Calls `body(coordinates)` for every element that this thread owns, once the launches before have
// ended: a kernel reads and writes activations in `body` alone.
template <typename Body>
__device__ __forceinline__ void for_each_element(const Unraveler& unraveler, Body body) {
  begin_next_launch();
  wait_for_launch_before();
  const std::uint32_t i = blockIdx.x * kElementThreads + threadIdx.x;
  if (i >= unraveler.per_group) return;
  for (std::uint32_t group = blockIdx.y; group < unraveler.groups; group += gridDim.y) {
    const Coordinates at = unraveler.at(group, i);
    if (at.n < unraveler.images && at.c < unraveler.channel_count) body(at);
  }
}

// Calls `action` with a value of the element type that `precision` names.
template <typename Action>
void with_element(Precision precision, Action action) {
  if (precision == Precision::f32) {
    action(float{});
  } else {
    action(__half{});
  }
}

}  // namespace winnow
