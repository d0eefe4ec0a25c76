#include "tests/gpu/device_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace winnow {
namespace {

void store(std::vector<unsigned char>& bytes, std::size_t at, Precision precision, float value) {
  const Half half = to_half(value);
  const void* source = precision == Precision::f32 ? static_cast<const void*>(&value) : &half;
  std::memcpy(bytes.data() + at, source, static_cast<std::size_t>(size_of(precision)));
}

float load(const std::vector<unsigned char>& bytes, std::size_t at, Precision precision) {
  if (precision == Precision::f32) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
  }
  Half half;
  std::memcpy(&half, bytes.data() + at, sizeof(half));
  return to_float(half);
}

// Calls body(n, c, y, x) in row-major order.
template <typename Body>
void for_each_position(const Extents& size, Body body) {
  for (std::int64_t n = 0; n < size.n; ++n) {
    for (std::int64_t c = 0; c < size.c; ++c) {
      for (std::int64_t y = 0; y < size.h; ++y) {
        for (std::int64_t x = 0; x < size.w; ++x) body(n, c, y, x);
      }
    }
  }
}

}  // namespace

std::vector<std::int32_t> places_in_order(int order, std::int64_t channels) {
  std::vector<std::int32_t> places;
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::int64_t place = order == 0 ? c : (2 * channels - 1 - c + order) % channels;
    places.push_back(static_cast<std::int32_t>(place));
  }
  return places;
}

DeviceTensor::DeviceTensor(const ActivationFormat& format, const Shape& shape)
    : format_(format),
      shape_(shape),
      size_(extents_of(shape)),
      strides_(strides_of(format, size_)),
      places_(format.order == 0 ? std::vector<std::int32_t>()
                                : places_in_order(format.order, size_.c)),
      device_places_(upload(places_)),
      data_(static_cast<std::size_t>(bytes_of(format, size_))) {
  copy_to_device(data_.get(), std::vector<unsigned char>(data_.bytes(), kPoison).data(),
                 data_.bytes());
}

DeviceTensor::DeviceTensor(const ActivationFormat& format, const reference::Array& values)
    : DeviceTensor(format, values.shape) {
  std::vector<unsigned char> host(data_.bytes(), kPoison);
  Extents framed = size_;
  framed.h += 2 * format.halo_h;
  framed.w += 2 * format.halo_w;
  framed.c += format.channel_padding;
  for_each_position(framed, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
    store(host, byte_offset(n, c, y - format.halo_h, x - format.halo_w), format.precision, 0.0f);
  });
  std::size_t i = 0;
  for_each_position(size_, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
    store(host, byte_offset(n, c, y, x), format.precision, values.values[i++]);
  });
  copy_to_device(data_.get(), host.data(), host.size());
}

std::size_t DeviceTensor::byte_offset(std::int64_t n, std::int64_t c, std::int64_t y,
                                      std::int64_t x) const {
  const std::int64_t packed = packed_images(format_.layout);
  const std::int64_t block = blocked_channels(format_.layout);
  if (!places_.empty()) c = places_[static_cast<std::size_t>(c)];
  const std::int64_t element = strides_.origin + n / packed * strides_.image + n % packed +
                               c / block * strides_.channel_block + c % block * strides_.channel +
                               y * strides_.row + x * strides_.column;
  return static_cast<std::size_t>(element * size_of(format_.precision));
}

std::vector<unsigned char> DeviceTensor::bytes() const {
  std::vector<unsigned char> host(data_.bytes());
  CUDA_CHECK(cudaDeviceSynchronize());
  if (!host.empty()) {
    CUDA_CHECK(cudaMemcpy(host.data(), data_.get(), host.size(), cudaMemcpyDeviceToHost));
  }
  return host;
}

std::vector<float> DeviceTensor::values() const {
  const std::vector<unsigned char> host = bytes();
  std::vector<float> values;
  for_each_position(size_, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
    values.push_back(load(host, byte_offset(n, c, y, x), format_.precision));
  });
  return values;
}

bool DeviceTensor::is_frame_untouched() const {
  std::vector<unsigned char> host = bytes();
  Extents all_lanes = size_;
  const std::int64_t packed = packed_images(format_.layout);
  all_lanes.n = (size_.n + packed - 1) / packed * packed;
  for_each_position(all_lanes, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
    std::memset(host.data() + byte_offset(n, c, y, x), kPoison,
                static_cast<std::size_t>(size_of(format_.precision)));
  });
  return std::ranges::all_of(host, [](unsigned char byte) { return byte == kPoison; });
}

double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
  if (found.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double largest = 1, difference = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double d = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    if (std::isnan(d)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, d);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return difference / largest;
}

}  // namespace winnow
