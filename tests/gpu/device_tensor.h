// Activations on the device, laid out on the host by the definition of the formats.
#pragma once

#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/reference/operations.h"

namespace winnow {

// Where the channels of a tensor lie in this order: turned around and shifted, by themselves in
// order 0.
std::vector<std::int32_t> places_in_order(int order, std::int64_t channels);

// What lies in a tensor's memory before a kernel writes it: a NaN in both precisions.
inline constexpr unsigned char kPoison = 0xff;

class DeviceTensor {
 public:
  // All of it is poison.
  DeviceTensor(const ActivationFormat& format, const Shape& shape);

  // The values with a halo of zeros; lanes of chwn8 beyond the last image stay poison, since no
  // image may depend on them.
  DeviceTensor(const ActivationFormat& format, const reference::Array& values);

  ActivationView view() const {
    return {data_.get(), format_, size_, format_.order == 0 ? nullptr : device_places_.get()};
  }

  // Row-major.
  std::vector<float> values() const;

  // Whether everything but the values themselves still is poison.
  bool is_frame_untouched() const;

 private:
  std::vector<unsigned char> bytes() const;
  std::size_t byte_offset(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const;

  ActivationFormat format_;
  Shape shape_;
  Extents size_;
  ActivationStrides strides_;
  std::vector<std::int32_t> places_;  // of channels; empty in order 0
  DeviceBuffer<std::int32_t> device_places_;
  DeviceBuffer<unsigned char> data_;
};

// The largest difference, over the largest expected magnitude (at least 1). NaN gives infinity.
double relative_error(const std::vector<float>& found, const std::vector<float>& expected);

// Allowed relative_error of a kernel that sums in float and rounds its result once.
inline double tolerance(Precision precision) {
  return precision == Precision::f32 ? 2e-5 : 1.5e-3;
}

}  // namespace winnow
