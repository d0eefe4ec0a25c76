#include "runtime/gpu/conv/padded_rows.h"

#include "runtime/gpu/layer/direct_rows.h"
#include "runtime/plan/block_csr.h"

namespace winnow {
namespace {

// Padded rows do without bounds, which wins a little in short layers and loses in long ones, so
// they are timed (docs/benchmarks/direct-conv.md). Beyond one pad for every block they are twice
// the work.
constexpr double kMostPadsPerBlock = 1.0;

// Whether the family direct, which drops blocks of zeros and fills rows up to fours, is left with
// rows of one length, which it runs without bounds as well.
bool has_equal_rows(const Weight& weight, const Conv& conv) {
  const DirectRows rows = direct_rows(weight, conv.out_channels, conv.groups);
  return rows.row_length > 0 || rows.column.empty();
}

}  // namespace

std::string why_not_padded(const Weight& weight, const Conv& conv, bool is_asked) {
  const auto* sparse = std::get_if<CsrWeight>(&weight);
  if (sparse == nullptr) return "the weight is dense";
  if (conv.groups > 1 && conv.out_channels / conv.groups % sparse->vector != 0) {
    return "blocks of " + std::to_string(sparse->vector) + " channels span groups";
  }
  if (is_asked) return "";
  if (has_equal_rows(weight, conv)) {
    return "rows without their zeros, filled up to fours, are equally long: direct runs them so";
  }
  if (pads_per_block(*sparse) > kMostPadsPerBlock) return "the rows' lengths differ too much";
  return "";
}

}  // namespace winnow
