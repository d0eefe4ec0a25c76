#include "runtime/gpu/layer/activation.h"

#include <algorithm>

namespace winnow {

std::string to_string(Precision precision) {
  return precision == Precision::f32 ? "f32" : "f16";
}

std::string math_name(Precision precision, bool use_tf32) {
  return precision == Precision::f32 && use_tf32 ? "tf32" : to_string(precision);
}

std::int64_t size_of(Precision precision) {
  return precision == Precision::f32 ? 4 : 2;
}

std::size_t format_index(const std::vector<ActivationFormat>& formats,
                         const ActivationFormat& wanted) {
  return static_cast<std::size_t>(std::ranges::find(formats, wanted) - formats.begin());
}

std::string to_string(const ActivationFormat& format) {
  if (format.tells_source) return "deferred from " + to_string(source_of(format));
  std::string text = format.is_deferred ? "deferred" : to_string(format.layout);
  if (format.halo_h > 0 || format.halo_w > 0) {
    text += " halo " + std::to_string(format.halo_h) + "x" + std::to_string(format.halo_w);
  }
  if (format.channel_padding > 0) text += " padded " + std::to_string(format.channel_padding);
  if (format.order != 0) text += " placed";
  return text + " " + to_string(format.precision);
}

ActivationStrides strides_of(const ActivationFormat& format, const Extents& size) {
  const std::int64_t rows = size.h + 2 * format.halo_h;
  const std::int64_t columns = size.w + 2 * format.halo_w;
  const std::int64_t packed = packed_images(format.layout);
  const std::int64_t groups = (size.n + packed - 1) / packed;
  const std::int64_t block = blocked_channels(format.layout);
  const std::int64_t channels = (size.c + format.channel_padding + block - 1) / block * block;

  ActivationStrides strides;
  if (format.layout == Layout::nhwc) {
    strides.channel = strides.channel_block = 1;
    strides.column = channels;
  } else {
    strides.column = block * packed;
    strides.channel_block = rows * columns * strides.column;
    strides.channel = block > 1 ? packed : strides.channel_block;
  }
  strides.row = columns * strides.column;
  strides.image = element_count({rows, columns, channels, packed});
  strides.origin = format.halo_h * strides.row + format.halo_w * strides.column;
  strides.total = element_count({groups, strides.image});
  return strides;
}

std::int64_t bytes_of(const ActivationFormat& format, const Extents& size) {
  if (format.is_deferred) return 0;
  return element_count({strides_of(format, size).total, size_of(format.precision)});
}

bool is_matrix(const ActivationView& view, const Layout& layout, std::int64_t features) {
  const ActivationFormat format{.layout = layout, .precision = view.format.precision};
  const Extents size{.n = view.size.n, .c = features};
  return view.format == format && view.size == size;
}

bool is_same_memory(const ActivationFormat& a, const ActivationFormat& b, const Extents& size) {
  if (a == b) return true;
  if (a.precision != b.precision || a.halo_h != b.halo_h || a.halo_w != b.halo_w) return false;
  if (a.channel_padding != b.channel_padding) return false;
  if (a.is_deferred || b.is_deferred) return false;
  const bool is_unpacked = packed_images(a.layout) == 1 && packed_images(b.layout) == 1;
  const bool is_point = size.h == 1 && size.w == 1;
  return is_unpacked && (is_point || size.c == 1) && a.halo_h == 0 && a.halo_w == 0;
}

}  // namespace winnow
