#include "runtime/sparse/sparse_layer.h"

#include <bit>
#include <cmath>

#include "runtime/base/error.h"
#include "runtime/base/half.h"

namespace winnow {
namespace {

// Without branches, because networks have up to 4e9 connections; what is wrong is looked for only
// if something is.
bool is_sound_row(const SparseLayer& layer, std::uint32_t begin, std::uint32_t end) {
  if (begin == end) return true;
  bool is_ascending = true;
  for (std::uint32_t k = begin + 1; k < end; ++k) {
    is_ascending &= layer.input[k - 1] < layer.input[k];
  }
  return is_ascending && layer.input[end - 1] < layer.inputs;
}

void check_row(const SparseLayer& layer, std::uint32_t row, const std::string& where) {
  const std::uint32_t begin = layer.row_begin[row], end = layer.row_begin[row + 1];
  if (begin > end || end > layer.connections()) {
    fail(ErrorCode::usage, where, ": output ", row, ": its connections begin at ", begin,
         " and end at ", end, " of ", layer.connections());
  }
  if (is_sound_row(layer, begin, end)) return;
  for (std::uint32_t k = begin; k < end; ++k) {
    const bool is_ascending = k == begin || layer.input[k - 1] < layer.input[k];
    if (layer.input[k] >= layer.inputs || !is_ascending) {
      fail(ErrorCode::usage, where, ": output ", row, ": input ", layer.input[k],
           " is out of order or not below ", layer.inputs);
    }
  }
}

bool are_finite(const std::vector<float>& values) {
  constexpr std::uint32_t kInfinity = 0x7f80'0000u, kMagnitude = 0x7fff'ffffu;
  bool is_finite = true;
  for (const float value : values) {
    is_finite &= (std::bit_cast<std::uint32_t>(value) & kMagnitude) < kInfinity;
  }
  return is_finite;
}

// Requires that the rows are sound.
void check_values(const SparseLayer& layer, const std::string& where) {
  if (are_finite(layer.value) && are_finite(layer.bias)) return;
  for (std::uint32_t row = 0; row < layer.outputs(); ++row) {
    if (!std::isfinite(layer.bias[row])) {
      fail(ErrorCode::usage, where, ": output ", row, ": the bias is not finite");
    }
    for (std::uint32_t k = layer.row_begin[row]; k < layer.row_begin[row + 1]; ++k) {
      if (!std::isfinite(layer.value[k])) {
        fail(ErrorCode::usage, where, ": output ", row, ": a weight is not finite");
      }
    }
  }
}

}  // namespace

bool fits_half_range(std::span<const float> weights, float scale) {
  bool fits = true;  // without branches, as above
  for (const float weight : weights) fits &= std::abs(weight * scale) <= kLargestHalf;
  return fits;
}

void check_half_range(std::span<const float> weights, float scale, const std::string& where) {
  if (fits_half_range(weights, scale)) return;
  for (const float weight : weights) {
    if (std::abs(weight * scale) <= kLargestHalf) continue;
    fail(ErrorCode::usage, where, ": a weight is ", weight, ", at most ", kLargestHalf / scale,
         " fits fp16");
  }
}

void check_layer(const SparseLayer& layer, const std::string& where) {
  if (layer.row_begin.size() != layer.bias.size() + 1 || layer.row_begin.front() != 0 ||
      layer.row_begin.back() != layer.connections() || layer.value.size() != layer.input.size()) {
    fail(ErrorCode::usage, where, ": ", layer.row_begin.size(), " row bounds, ", layer.bias.size(),
         " biases, ", layer.input.size(), " inputs and ", layer.value.size(),
         " weights do not fit each other");
  }
  for (std::uint32_t row = 0; row < layer.outputs(); ++row) check_row(layer, row, where);
  check_values(layer, where);
}

void check_follows(const SparseLayer& before, const SparseLayer& layer, std::size_t l,
                   const std::string& where) {
  if (layer.inputs == before.outputs()) return;
  fail(ErrorCode::usage, where, ": layer ", l, " takes ", layer.inputs,
       " inputs, the one before has ", before.outputs(), " outputs");
}

}  // namespace winnow
