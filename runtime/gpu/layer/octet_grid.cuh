// Which eight elements of an activation a thread has: eight channels of nhwc, else eight images.
#pragma once

#include <cstdint>

#include "runtime/gpu/layer/indexing.cuh"
#include "runtime/gpu/layer/octet.cuh"

namespace winnow {

// Whether the innermost dimension of this layout holds octets.
inline bool has_octets(const Layout& layout) {
  return layout.order == Order::nhwc || packed_images(layout) % kOctet == 0;
}

// Whether octets from channel `first` on can be read and written as a whole.
inline bool has_aligned_octets(const ActivationView& view, std::int64_t first = 0) {
  const bool is_base_aligned = reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
  if (view.format.layout.order != Order::nhwc) return is_base_aligned;
  return is_base_aligned && strides_of(view.format, view.size).column % kOctet == 0 &&
         first % kOctet == 0;
}

// The octets of one channel (nhwc: of one image) follow each other in memory order, as with
// Unraveler; so do those of 32 channels of nchw32c8n.
struct OctetGrid {
  Unraveler order;
  std::uint32_t images = 0, channels = 0;
  bool is_along_channels = false;

  OctetGrid(const Layout& layout, const Extents& size)
      : order({with_octets(layout.order), 1}, counts(layout, size)),
        images(static_cast<std::uint32_t>(size.n)),
        channels(static_cast<std::uint32_t>(size.c)),
        is_along_channels(layout.order == Order::nhwc) {}

  // Coordinates of an octet's first element, and how many of its elements there are.
  __device__ __forceinline__ Coordinates first(const Coordinates& octet) const {
    Coordinates at = octet;
    (is_along_channels ? at.c : at.n) *= kOctet;
    return at;
  }
  __device__ __forceinline__ int count(const Coordinates& first) const {
    return static_cast<int>(is_along_channels ? channels - first.c : images - first.n);
  }

 private:
  static Order with_octets(Order order) {
    return order == Order::nhwc || order == Order::nchwcn ? order : Order::nchw;
  }
  static Extents counts(const Layout& layout, Extents size) {
    std::int64_t& lanes = layout.order == Order::nhwc ? size.c : size.n;
    lanes = (lanes + kOctet - 1) / kOctet;
    return size;
  }
};

// Calls `body(first element, elements)` for every octet that this thread owns.
template <typename Body>
__device__ __forceinline__ void for_each_octet(const OctetGrid& grid, Body body) {
  for_each_element(grid.order, [&](const Coordinates& octet) {
    const Coordinates first = grid.first(octet);
    body(first, grid.count(first));
  });
}

}  // namespace winnow
