// Eqs 2 to 4 of paper 003 in plain loops: which units of a layer a mask keeps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/trainee.h"

namespace winnow {

// How many of `units` a mask of this sparsity keeps: round((1 - sparsity) units), halves up, at
// least 1 of a layer that has any. The one definition; the Torch masks use it too.
std::int64_t kept_units(std::int64_t units, double sparsity);

// A weight tensor [channels, inputs], where inputs stands for all other dimensions, with masks of
// `vector` neighbouring channels. Unit g * inputs + j covers weights (g * vector + i, j), i from 0
// up to vector, existing channels only. vector = 1 is an element mask: unit = index of the weight.
struct UnitLayout {
  std::int64_t channels = 0;
  std::int64_t inputs = 0;
  std::int64_t vector = 1;

  std::int64_t groups() const { return channels / vector + (channels % vector != 0 ? 1 : 0); }
  std::int64_t units() const { return groups() * inputs; }
  std::int64_t weights() const { return channels * inputs; }
};

// Eq 2, with both factors made comparable:
//   alpha |grad| / mean |grad|  +  (1 - alpha) |w| / mean |w|
// A mean of 0 makes its term 0. The importance of a unit is the mean of its weights'.
//
//   weights, gradients  [channels, inputs]; gradients may be empty: they count as 0
//   returns             [units]
//
// Throws Error{usage} if sizes, vector or alpha (in [0, 1]) are wrong.
std::vector<float> unit_importance(std::span<const float> weights, std::span<const float> gradients,
                                   const UnitLayout& layout, double alpha);

// Eq 3: 1 for the kept_units() most important units, 0 for the others. Of equals the lower index
// stays. A NaN ranks last.
std::vector<std::uint8_t> top_units(std::span<const float> importance, double sparsity);

// Eq 3 row by row: importance is [rows, inputs], and every row keeps its kept_units(inputs) most
// important units, so that all rows of the sparse weight are equally long.
// Throws Error{usage} unless `rows` divides the number of units.
std::vector<std::uint8_t> top_units_of_rows(std::span<const float> importance, std::int64_t rows,
                                            double sparsity);

// Eq 4: w = w * mask, in place.
void apply_mask(std::span<float> weights, std::span<const std::uint8_t> unit_mask,
                const UnitLayout& layout);

// What changed between two masks of one layer.
Migration count_migration(std::span<const std::uint8_t> before, std::span<const std::uint8_t> after,
                          const UnitLayout& layout);

}  // namespace winnow
