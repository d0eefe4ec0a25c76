#include "runtime/cpu/kept_units.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace winnow {
namespace {

bool is_zero(const float* values, int count) {
  return std::all_of(values, values + count, [](float x) { return x == 0; });
}

}  // namespace

KeptUnits kept_units(const CsrWeight& weight) {
  const std::vector<float> values = decode(weight.values);
  KeptUnits units{weight.channels, weight.cols, weight.vector, {0}, {}, {}};
  for (std::int64_t row = 0; row < weight.rows; ++row) {
    for (std::int64_t t = 0; t < weight.row_length; ++t) {
      const std::int64_t index = row * weight.row_length + t;
      const float* unit = values.data() + index * weight.vector;
      if (is_zero(unit, weight.vector)) continue;
      units.column.push_back(weight.column[index]);
      units.value.insert(units.value.end(), unit, unit + weight.vector);
    }
    units.begin.push_back(static_cast<std::int64_t>(units.column.size()));
  }
  return units;
}

KeptUnits kept_units(std::span<const float> weight, std::int64_t channels, int vector) {
  const std::int64_t cols = channels == 0 ? 0 : static_cast<std::int64_t>(weight.size()) / channels;
  KeptUnits units{channels, cols, vector, {0}, {}, {}};
  std::vector<float> unit(vector);
  for (std::int64_t first = 0; first < channels; first += vector) {
    for (std::int64_t col = 0; col < cols; ++col) {
      for (std::int64_t i = 0; i < vector; ++i) {
        unit[i] = first + i < channels ? weight[(first + i) * cols + col] : 0.0f;
      }
      if (is_zero(unit.data(), vector)) continue;
      units.column.push_back(static_cast<std::uint32_t>(col));
      units.value.insert(units.value.end(), unit.begin(), unit.end());
    }
    units.begin.push_back(static_cast<std::int64_t>(units.column.size()));
  }
  return units;
}

KeptUnits split_units(const KeptUnits& units, int vector) {
  if (units.vector == vector) return units;
  if (units.vector % vector != 0) {
    fail(ErrorCode::internal, "units of ", units.vector, " channels do not split into ", vector);
  }
  KeptUnits split{units.channels, units.cols, vector, {0}, {}, {}};
  for (std::int64_t row = 0; row < units.rows(); ++row) {
    for (int lane = 0; lane < units.vector; lane += vector) {
      if (row * units.vector + lane >= units.channels) break;
      for (std::int64_t i = units.begin[row]; i < units.begin[row + 1]; ++i) {
        const float* unit = units.value.data() + i * units.vector + lane;
        if (is_zero(unit, vector)) continue;
        split.column.push_back(units.column[i]);
        split.value.insert(split.value.end(), unit, unit + vector);
      }
      split.begin.push_back(static_cast<std::int64_t>(split.column.size()));
    }
  }
  return split;
}

std::vector<float> dense_weight(const KeptUnits& units) {
  std::vector<float> dense(static_cast<std::size_t>(units.channels * units.cols));
  for (std::int64_t row = 0; row < units.rows(); ++row) {
    for (std::int64_t i = units.begin[row]; i < units.begin[row + 1]; ++i) {
      for (int lane = 0; lane < units.vector; ++lane) {
        const std::int64_t channel = row * units.vector + lane;
        if (channel >= units.channels) break;
        dense[channel * units.cols + units.column[i]] = units.value[i * units.vector + lane];
      }
    }
  }
  return dense;
}

}  // namespace winnow
