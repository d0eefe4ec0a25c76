#include "runtime/model/checked_values.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

template <typename Value, typename Good>
void require_all(std::span<const Value> values, Good is_good, const std::string& name,
                 const std::string& place, const std::string& expected) {
  const auto bad = std::find_if_not(values.begin(), values.end(), is_good);
  if (bad == values.end()) return;
  float found;
  if constexpr (std::is_same_v<Value, Half>) {
    found = to_float(*bad);
  } else {
    found = *bad;
  }
  fail(ErrorCode::bad_file, place, ": tensor ", in_quotes(name), ": element ", bad - values.begin(),
       " is ", found, ", expected ", expected);
}

}  // namespace

void require_finite(const Tensor& tensor, const std::string& name, const std::string& place) {
  if (tensor.type() == DataType::f32) {
    require_all<float>(
        tensor.values<float>(), [](float value) { return std::isfinite(value); }, name, place,
        "a finite number");
  } else if (tensor.type() == DataType::f16) {
    require_all<Half>(
        tensor.values<Half>(), [](Half value) { return std::isfinite(to_float(value)); }, name,
        place, "a finite number");
  }
}

void require_half_range(std::span<const float> values, const std::string& name,
                        const std::string& place, const std::string& remedy) {
  require_all<float>(
      values, [](float value) { return std::abs(value) <= kLargestHalf; },  // false for NaN
      name, place, "at most 65504 in magnitude, the largest number of fp16; " + remedy);
}

}  // namespace winnow
