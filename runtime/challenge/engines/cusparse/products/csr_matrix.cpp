#include "runtime/challenge/engines/cusparse/products/csr_matrix.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

void check_counts(const SparseLayer& layer) {
  constexpr std::uint32_t kMost = kMostNonzeros;
  if (layer.connections() > kMost || layer.inputs > kMost || layer.outputs() > kMost) {
    fail(ErrorCode::usage, "a layer of ", layer.inputs, " inputs, ", layer.outputs(),
         " outputs and ", layer.connections(), " connections: cuSPARSE takes at most ", kMost);
  }
}

std::int32_t longest_row_of(const HostCsr& matrix) {
  std::int32_t longest = 0;
  for (std::size_t r = 0; r + 1 < matrix.begin.size(); ++r) {
    longest = std::max(longest, matrix.begin[r + 1] - matrix.begin[r]);
  }
  return longest;
}

}  // namespace

HostCsr weights_by_input(const SparseLayer& layer) {
  check_counts(layer);
  HostCsr matrix{.rows = static_cast<std::int32_t>(layer.inputs),
                 .columns = static_cast<std::int32_t>(layer.outputs()),
                 .begin = std::vector<std::int32_t>(layer.inputs + 1),
                 .column = std::vector<std::int32_t>(layer.connections()),
                 .value = std::vector<float>(layer.connections())};
  for (const std::uint32_t input : layer.input) ++matrix.begin[input + 1];
  for (std::uint32_t i = 0; i < layer.inputs; ++i) matrix.begin[i + 1] += matrix.begin[i];
  std::vector<std::int32_t> next(matrix.begin.begin(), matrix.begin.end() - 1);
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      const auto place = static_cast<std::size_t>(next[layer.input[k]]++);
      matrix.column[place] = static_cast<std::int32_t>(j);
      matrix.value[place] = layer.value[k];
    }
  }
  return matrix;
}

HostCsr weights_by_output(const SparseLayer& layer) {
  check_counts(layer);
  return {.rows = static_cast<std::int32_t>(layer.outputs()),
          .columns = static_cast<std::int32_t>(layer.inputs),
          .begin = std::vector<std::int32_t>(layer.row_begin.begin(), layer.row_begin.end()),
          .column = std::vector<std::int32_t>(layer.input.begin(), layer.input.end()),
          .value = layer.value};
}

DeviceCsr::DeviceCsr(const HostCsr& matrix)
    : rows_(matrix.rows),
      columns_(matrix.columns),
      longest_row_(longest_row_of(matrix)),
      begin_(upload(matrix.begin)),
      column_(upload(matrix.column)),
      value_(upload(matrix.value)) {}

CsrView DeviceCsr::view() const {
  return {.rows = rows_,
          .columns = columns_,
          .nonzeros = static_cast<std::int32_t>(column_.count()),
          .begin = begin_.get(),
          .column = column_.get(),
          .value = value_.get()};
}

}  // namespace winnow::challenge
