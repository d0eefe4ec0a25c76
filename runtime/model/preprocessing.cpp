#include "runtime/model/preprocessing.h"

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr std::size_t kBytes = 256;

void require_channels(const std::vector<float>& values, std::size_t channels) {
  if (values.empty() || values.size() == channels) return;
  fail(ErrorCode::usage, "preprocessing: found ", values.size(), " channels, expected ", channels);
}

}  // namespace

std::vector<float> input_values(const Preprocessing& preprocessing, std::int64_t channels) {
  const std::vector<float>& mean = preprocessing.mean;
  const std::vector<float>& deviation = preprocessing.deviation;
  const auto count = static_cast<std::size_t>(channels);
  require_channels(mean, count);
  require_channels(deviation, count);
  std::vector<float> values(count * kBytes);
  for (std::size_t c = 0; c < count; ++c) {
    const float shift = mean.empty() ? 0.0f : mean[c];
    const float divisor = deviation.empty() ? 1.0f : deviation[c];
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      values[c * kBytes + byte] = (static_cast<float>(byte) / 255.0f - shift) / divisor;
    }
  }
  return values;
}

}  // namespace winnow
