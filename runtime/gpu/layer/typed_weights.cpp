#include "runtime/gpu/layer/typed_weights.h"

#include <variant>

#include "runtime/base/checksum.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

const Weight& find_weight(const DeployedModel& model, const std::string& name) {
  const auto found = model.weights.find(name + ".weight");
  if (found == model.weights.end()) {
    fail(ErrorCode::bad_file, model.graph.name, ": ", name, ".weight is missing");
  }
  return found->second;
}

}  // namespace

std::vector<float> dense_weight(const DeployedModel& model, const std::string& name) {
  const Weight& weight = find_weight(model, name);
  if (const auto* sparse = std::get_if<CsrWeight>(&weight)) return to_dense(*sparse);
  return decode(std::get<DenseWeight>(weight).values);
}

std::vector<float> bias_or_zeros(const DeployedModel& model, const std::string& name,
                                 std::int64_t channels) {
  if (model.weights.contains(name + ".bias")) return dense_values(model, name + ".bias");
  return std::vector<float>(static_cast<std::size_t>(channels), 0.0f);
}

std::uint32_t weight_checksum(const DeployedModel& model, const std::string& name) {
  const Weight& weight = find_weight(model, name);
  if (const auto* dense = std::get_if<DenseWeight>(&weight)) return crc32c(dense->values.data);
  const auto& sparse = std::get<CsrWeight>(weight);
  return crc32c(sparse.values.data, crc32c(std::as_bytes(std::span(sparse.column))));
}

const CsrWeight* sparse_weight(const DeployedModel& model, const std::string& name) {
  return std::get_if<CsrWeight>(&find_weight(model, name));
}

DeviceBuffer<std::byte> upload_as(Precision precision, std::span<const float> values) {
  const std::size_t width = precision == Precision::f32 ? sizeof(float) : sizeof(Half);
  DeviceBuffer<std::byte> buffer(values.size() * width);
  if (precision == Precision::f32) {
    copy_to_device(buffer.get(), values.data(), buffer.bytes());
    return buffer;
  }
  std::vector<Half> halves;
  halves.reserve(values.size());
  for (const float value : values) halves.push_back(to_half(value));
  copy_to_device(buffer.get(), halves.data(), buffer.bytes());
  return buffer;
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
