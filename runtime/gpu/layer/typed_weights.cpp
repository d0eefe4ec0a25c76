#include "runtime/gpu/layer/typed_weights.h"

#include "runtime/plan/step_weights.h"

namespace winnow {

std::vector<float> bias_or_zeros(const Weight* bias, std::int64_t channels) {
  std::vector<float> values = dense_floats(bias);
  if (bias == nullptr) values.resize(static_cast<std::size_t>(channels));
  return values;
}

DeviceBuffer<std::byte> upload_as(Precision precision, std::span<const float> values) {
  if (precision == Precision::f32) return upload(std::as_bytes(values));
  std::vector<Half> halves;
  halves.reserve(values.size());
  for (const float value : values) halves.push_back(to_half(value));
  return upload(std::as_bytes(std::span<const Half>(halves)));
}

std::vector<float> channels_last(std::span<const float> weight, std::int64_t channels,
                                 std::int64_t plane) {
  if (weight.empty()) return {};
  const std::int64_t inputs = static_cast<std::int64_t>(weight.size()) / channels / plane;
  std::vector<float> turned(weight.size());
  for (std::int64_t k = 0; k < channels; ++k) {
    for (std::int64_t c = 0; c < inputs; ++c) {
      for (std::int64_t p = 0; p < plane; ++p) {
        turned[static_cast<std::size_t>((k * plane + p) * inputs + c)] =
            weight[static_cast<std::size_t>((k * inputs + c) * plane + p)];
      }
    }
  }
  return turned;
}

}  // namespace winnow
