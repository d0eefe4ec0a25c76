// How activations lie in device memory. Pure host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/layout.h"
#include "runtime/plan/session.h"

namespace winnow {

// Images that lie side by side.
constexpr int packed_images(const Layout& layout) {
  const bool is_packed = layout.order == Order::chwn || layout.order == Order::nchwcn;
  return is_packed ? static_cast<int>(layout.block) : 1;
}

// Channels that lie in one block.
constexpr int blocked_channels(const Layout& layout) {
  return layout.order == Order::nchwcn ? static_cast<int>(kBlockedChannels) : 1;
}

inline constexpr int kPackedImages = packed_images(Layout::chwn8);  // 16 bytes of half floats

// A halo is a frame of zeros around each plane, `halo_h` rows above and below and `halo_w` columns
// left and right, which a convolution reads as its padding. Kernels write the interior only; the
// frame is zeroed once, when the memory is made. NHWC has none; it may have `channel_padding` zero
// channels after the last one instead, because tensor cores want channels in multiples of 8.
//
// Lanes of chwn8, chwn32 and nchw32c8n beyond the last image hold anything, and so do channels of
// nchw32c8n beyond the last one. Channels of nchw32c8n may lie in another order than their own, one
// of those that a session has (channel_orders.h). A deferred value takes no memory: a later step
// computes it on its way (linear_stack.h, fusions.h, dense_conv.h).
struct ActivationFormat {
  Layout layout = Layout::nchw;  // or nhwc, chwn8, chwn32, nchw32c8n
  Precision precision = Precision::f32;
  int halo_h = 0;
  int halo_w = 0;
  int channel_padding = 0;
  bool is_deferred = false;
  int order = 0;              // of channels; 0: their own
  bool tells_source = false;  // deferred: all else is said of what the value is computed from

  friend bool operator==(const ActivationFormat&, const ActivationFormat&) = default;
};

// Row-major without halo, in `precision`: what flattening, linear layers and softmax work on.
constexpr ActivationFormat row_major(Precision precision) {
  return {.layout = Layout::nchw, .precision = precision};
}

// Of values that a later step computes on its way.
inline constexpr ActivationFormat kDeferred = {.is_deferred = true};

// The same where there are several ways for what the value is computed from to lie.
constexpr ActivationFormat deferred_from(ActivationFormat source) {
  source.is_deferred = source.tells_source = true;
  return source;
}

// What it was made of. Requires a format that tells_source.
constexpr ActivationFormat source_of(ActivationFormat deferred) {
  deferred.is_deferred = deferred.tells_source = false;
  return deferred;
}

// Whether dense convolutions may run on tensor cores, which want channels in multiples of 8.
inline bool has_padded_channels(const SessionOptions& options) {
  return options.precision == Precision::f16 || options.use_tf32;
}

// Index of the first format in `formats` that is equal to `wanted`; formats.size() if none is.
std::size_t format_index(const std::vector<ActivationFormat>& formats,
                         const ActivationFormat& wanted);

// "nchw f16", "nchw halo 1x1 f32", "chwn8 halo 1x1 f16", "nhwc padded 5 f16", "nchw32c8n placed
// f16"
std::string to_string(const ActivationFormat& format);
std::string to_string(Precision precision);

// The precision as kernels' names have it: "f16", "f32", or "tf32" where fp32 inputs may be
// rounded to TF32.
std::string math_name(Precision precision, bool use_tf32);
std::int64_t size_of(Precision precision);

// Distances in elements. Requires a format with memory.
struct ActivationStrides {
  std::int64_t image = 0;          // between images, or groups of 8 or 32
  std::int64_t channel = 0;        // between channels of a block
  std::int64_t channel_block = 0;  // between blocks of channels
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t origin = 0;  // of position (0, 0) of the first plane from the first element
  std::int64_t total = 0;   // elements of the whole tensor with halos
};
ActivationStrides strides_of(const ActivationFormat& format, const Extents& size);
std::int64_t bytes_of(const ActivationFormat& format, const Extents& size);  // 0: deferred

// Whether a tensor of this size has the same bytes in both formats, so that no conversion is
// needed.
bool is_same_memory(const ActivationFormat& a, const ActivationFormat& b, const Extents& size);

// A tensor in device memory; does not own it. A deferred one is that which it is computed from.
struct ActivationView {
  void* data = nullptr;  // first byte, of the halo if there is one
  ActivationFormat format;
  Extents size;
  const std::int32_t* places = nullptr;  // in device memory, where channel c lies; null: order 0
};

// The same bytes with channels numbered as they lie.
inline ActivationView as_placed(ActivationView view) {
  view.format.order = 0;
  view.places = nullptr;
  return view;
}

// Whether it is [images, features] in this layout, without a halo or padding.
bool is_matrix(const ActivationView& view, const Layout& layout, std::int64_t features);

// The channels [first, first + count) of `view`.
struct ChannelSlice {
  ActivationView view;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

}  // namespace winnow
