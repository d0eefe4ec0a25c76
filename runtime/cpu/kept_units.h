// The weights that a sparse kernel multiplies by, free of padding and of the file's encoding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/csr.h"

namespace winnow {

// A unit is one column of `vector` neighbouring output channels; units of nothing but zeros are
// left out. Columns as in CsrWeight, increasing within a row.
struct KeptUnits {
  std::int64_t channels = 0;
  std::int64_t cols = 0;
  int vector = 1;
  std::vector<std::int64_t> begin;    // [rows + 1]
  std::vector<std::uint32_t> column;  // [units]
  std::vector<float> value;           // [units, vector]

  std::int64_t rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
};

KeptUnits kept_units(const CsrWeight& weight);

// Units of `vector` channels of a dense weight [channels, cols].
KeptUnits kept_units(std::span<const float> weight, std::int64_t channels, int vector);

// The same weights in narrower units. Requires units.vector % vector == 0.
KeptUnits split_units(const KeptUnits& units, int vector);

// All channels * cols weights, zeros included, row-major.
std::vector<float> dense_weight(const KeptUnits& units);

}  // namespace winnow
