#include "runtime/kernels/activation.h"

#include <limits>

#include "runtime/base/error.h"

namespace winnow {

std::string to_string(Layout layout) {
  switch (layout) {
    case Layout::nchw:
      return "nchw";
    case Layout::nhwc:
      return "nhwc";
    case Layout::nchw8:
      return "nchw8";
    case Layout::nchw32:
      return "nchw32";
    case Layout::deferred:
      return "deferred";
  }
  fail(ErrorCode::internal, "unknown layout");
}

std::string to_string(Precision precision) {
  return precision == Precision::f32 ? "f32" : "f16";
}

std::string math_name(Precision precision, bool use_tf32) {
  return precision == Precision::f32 && use_tf32 ? "tf32" : to_string(precision);
}

std::int64_t size_of(Precision precision) {
  return precision == Precision::f32 ? 4 : 2;
}

std::string to_string(const ActivationFormat& format) {
  std::string text = to_string(format.layout);
  if (format.halo_h > 0 || format.halo_w > 0) {
    text += " halo " + std::to_string(format.halo_h) + "x" + std::to_string(format.halo_w);
  }
  if (format.channel_padding > 0) text += " padded " + std::to_string(format.channel_padding);
  return text + " " + to_string(format.precision);
}

ActivationSize activation_size(const Shape& shape) {
  if (shape.size() < 2 || shape.size() > 4) {
    fail(ErrorCode::usage, "activation ", to_string(shape), ": expected 2, 3 or 4 dimensions");
  }
  for (const std::int64_t extent : shape) {
    if (extent < 0 || extent > std::numeric_limits<std::int32_t>::max()) {
      fail(ErrorCode::usage, "activation ", to_string(shape), ": a size is out of range");
    }
  }
  ActivationSize size{.images = shape[0], .channels = shape[1]};
  if (shape.size() == 3) size.width = shape[2];
  if (shape.size() == 4) size.height = shape[2], size.width = shape[3];
  return size;
}

ActivationStrides strides_of(const ActivationFormat& format, const ActivationSize& size) {
  const std::int64_t rows = size.height + 2 * format.halo_h;
  const std::int64_t columns = size.width + 2 * format.halo_w;
  const std::int64_t packed = packed_images(format.layout);
  const std::int64_t groups = (size.images + packed - 1) / packed;
  const std::int64_t channels = size.channels + format.channel_padding;

  ActivationStrides strides;
  if (format.layout == Layout::nhwc) {
    strides.channel = 1;
    strides.column = channels;
  } else {
    strides.column = packed;
    strides.channel = rows * columns * packed;
  }
  strides.row = columns * strides.column;
  strides.image = element_count({rows, columns, channels, packed});
  strides.origin = format.halo_h * strides.row + format.halo_w * strides.column;
  strides.total = element_count({groups, strides.image});
  return strides;
}

std::int64_t bytes_of(const ActivationFormat& format, const ActivationSize& size) {
  if (format.layout == Layout::deferred) return 0;
  return element_count({strides_of(format, size).total, size_of(format.precision)});
}

bool is_matrix(const ActivationView& view, Layout layout, std::int64_t features) {
  const ActivationFormat format{.layout = layout, .precision = view.format.precision};
  const ActivationSize size{.images = view.size.images, .channels = features};
  return view.format == format && view.size == size;
}

bool is_same_memory(const ActivationFormat& a, const ActivationFormat& b,
                    const ActivationSize& size) {
  if (a == b) return true;
  if (a.precision != b.precision || a.halo_h != b.halo_h || a.halo_w != b.halo_w) return false;
  if (a.channel_padding != b.channel_padding) return false;
  if (a.layout == Layout::deferred || b.layout == Layout::deferred) return false;
  const bool is_unpacked = packed_images(a.layout) == 1 && packed_images(b.layout) == 1;
  const bool is_point = size.height == 1 && size.width == 1;
  return is_unpacked && (is_point || size.channels == 1) && a.halo_h == 0 && a.halo_w == 0;
}

}  // namespace winnow
