#include "runtime/challenge/gpu/gather_weights.h"

#include <vector_functions.h>

#include <array>
#include <vector>

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kStep = 4;
constexpr std::uint32_t kMostNarrow = 65536;

}  // namespace

GatherWeights::GatherWeights(const SparseLayer& layer) : inputs_(layer.inputs) {
  std::vector<std::uint32_t> begin = {0};
  std::vector<uint2> narrow;
  std::vector<uint4> wide;
  std::vector<float4> value;
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; k += kStep) {
      std::array<std::uint32_t, kStep> in{};
      std::array<float, kStep> weight{};
      in.fill(layer.input[k]);
      for (std::uint32_t i = 0; i < kStep && k + i < layer.row_begin[j + 1]; ++i) {
        in[i] = layer.input[k + i];
        weight[i] = layer.value[k + i];
      }
      value.push_back(make_float4(weight[0], weight[1], weight[2], weight[3]));
      if (layer.inputs <= kMostNarrow) {
        narrow.push_back(make_uint2(in[0] | in[1] << 16, in[2] | in[3] << 16));
      } else {
        wide.push_back(make_uint4(in[0], in[1], in[2], in[3]));
      }
    }
    begin.push_back(static_cast<std::uint32_t>(value.size()));
  }
  begin_ = upload(begin);
  narrow_ = upload(narrow);
  wide_ = upload(wide);
  value_ = upload(value);
  bias_ = upload(layer.bias);
}

GatherView GatherWeights::view() const {
  return {.inputs = inputs_,
          .outputs = static_cast<std::uint32_t>(bias_.count()),
          .begin = begin_.get(),
          .narrow = narrow_.get(),
          .wide = wide_.get(),
          .value = value_.get(),
          .bias = bias_.get()};
}

}  // namespace winnow::challenge
