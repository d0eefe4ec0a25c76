// How activations lie in device memory. Pure host code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/model/shape.h"
#include "runtime/plan/session.h"

namespace winnow {

// The numbers are stable: timing keys contain them.
enum class Layout {
  nchw = 0,      // [N][C][H][W]
  nhwc = 1,      // [N][H][W][C]
  nchw8 = 2,     // [ceil(N / 8)][C][H][W][8 images]; lanes beyond the last image hold anything
  nchw32 = 3,    // the same with 32 images
  deferred = 4,  // no memory: a later step computes the value on its way (linear_stack.h)
};

inline constexpr int kPackedImages = 8;  // of Layout::nchw8: 16 bytes of half floats

// Images that lie side by side: 1, 8 or 32.
constexpr int packed_images(Layout layout) {
  return layout == Layout::nchw8 ? kPackedImages : layout == Layout::nchw32 ? 32 : 1;
}

// A halo is a frame of zeros around each plane, `halo_h` rows above and below and `halo_w` columns
// left and right, which a convolution reads as its padding. Kernels write the interior only; the
// frame is zeroed once, when the memory is made. NHWC has none; it may have `channel_padding` zero
// channels after the last one instead, because tensor cores want channels in multiples of 8.
struct ActivationFormat {
  Layout layout = Layout::nchw;
  Precision precision = Precision::f32;
  int halo_h = 0;
  int halo_w = 0;
  int channel_padding = 0;

  friend bool operator==(const ActivationFormat&, const ActivationFormat&) = default;
};

// "nchw f16", "nchw halo 1x1 f32", "nchw8 halo 1x1 f16", "nhwc padded 5 f16"
std::string to_string(const ActivationFormat& format);
std::string to_string(Layout layout);
std::string to_string(Precision precision);

// The precision as kernels' names have it: "f16", "f32", or "tf32" where fp32 inputs may be
// rounded to TF32.
std::string math_name(Precision precision, bool use_tf32);
std::int64_t size_of(Precision precision);

// Sizes of one activation tensor. [N, C, L] has height 1; [N, F] has height and width 1.
struct ActivationSize {
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;

  friend bool operator==(const ActivationSize&, const ActivationSize&) = default;
};

// Throws Error{usage} unless shape has 2, 3 or 4 dimensions and every size fits 31 bits.
ActivationSize activation_size(const Shape& shape);

// Distances in elements. Requires a format with memory.
struct ActivationStrides {
  std::int64_t image = 0;  // between images, or groups of 8 or 32
  std::int64_t channel = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t origin = 0;  // of position (0, 0) of the first plane from the first byte
  std::int64_t total = 0;   // elements of the whole tensor with halos
};
ActivationStrides strides_of(const ActivationFormat& format, const ActivationSize& size);
std::int64_t bytes_of(const ActivationFormat& format, const ActivationSize& size);  // 0: deferred

// Whether a tensor of this size has the same bytes in both formats, so that no conversion is
// needed.
bool is_same_memory(const ActivationFormat& a, const ActivationFormat& b,
                    const ActivationSize& size);

// A tensor in device memory; does not own it. A deferred one is that which it is computed from.
struct ActivationView {
  void* data = nullptr;  // first byte, of the halo if there is one
  ActivationFormat format;
  ActivationSize size;
};

// Whether it is [images, features] in this layout, without a halo or padding.
bool is_matrix(const ActivationView& view, Layout layout, std::int64_t features);

// The channels [first, first + count) of `view`.
struct ChannelSlice {
  ActivationView view;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

}  // namespace winnow
