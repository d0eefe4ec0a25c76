#include "runtime/gpu/linear/narrow_weights.h"

#include <limits>

#include "runtime/base/error.h"
#include "runtime/base/half.h"
#include "runtime/gpu/gathered/weight_fragments.h"

namespace winnow {
namespace {

constexpr int kLanes = 32;

// Which input lies where: [chunks * 32], or -1 where there is none.
std::vector<std::int64_t> inputs_as_they_lie(const NarrowInputs& inputs,
                                             std::span<const std::int32_t> place) {
  std::vector<std::int64_t> input_at(static_cast<std::size_t>(inputs.chunks() * kNarrowChunk), -1);
  for (std::int64_t c = 0; c < inputs.channels; ++c) {
    const std::int64_t at = place.empty() ? c : place[static_cast<std::size_t>(c)];
    for (std::int64_t p = 0; p < inputs.positions; ++p) {
      const std::int64_t chunk = at / kNarrowChunk * inputs.positions + p;
      input_at[static_cast<std::size_t>(chunk * kNarrowChunk + at % kNarrowChunk)] =
          c * inputs.positions + p;
    }
  }
  return input_at;
}

void check(std::size_t weights, std::size_t outputs, const NarrowInputs& inputs,
           std::size_t places) {
  if (outputs < 1 || outputs > kMostNarrowOutputs) {
    fail(ErrorCode::usage, "a narrow linear layer has ", outputs, " outputs, expected 1 to ",
         kMostNarrowOutputs);
  }
  if (weights != outputs * static_cast<std::size_t>(inputs.count())) {
    fail(ErrorCode::usage, "a narrow linear layer has ", weights, " weights, expected ", outputs,
         " x ", inputs.count());
  }
  if (places != 0 && places != static_cast<std::size_t>(inputs.channels)) {
    fail(ErrorCode::usage, "a narrow linear layer has places of ", places, " channels, expected ",
         inputs.channels);
  }
}

}  // namespace

NarrowWeights pack_narrow_weights(std::span<const float> weight, std::span<const float> bias,
                                  const NarrowInputs& inputs, std::span<const std::int32_t> place) {
  check(weight.size(), bias.size(), inputs, place.size());
  NarrowWeights packed;
  packed.inputs = inputs;
  packed.outputs = static_cast<std::uint32_t>(bias.size());
  packed.tiles = 1;
  while (packed.tiles * kNarrowTile < packed.outputs) packed.tiles *= 2;
  packed.bias.assign(bias.begin(), bias.end());
  packed.bias.resize(packed.tiles * kNarrowTile);
  const std::vector<std::int64_t> input_at = inputs_as_they_lie(inputs, place);
  const auto half_of = [&](std::size_t output, std::int64_t input) {
    if (output >= packed.outputs || input < 0) return std::uint16_t{0};
    const auto row = output * static_cast<std::size_t>(inputs.count());
    return to_half(weight[row + static_cast<std::size_t>(input)]).bits;
  };
  for (std::size_t first = 0; first < input_at.size(); first += kNarrowChunk) {
    for (std::uint32_t step = 0; step < kNarrowChunk / kNarrowStep; ++step) {
      for (std::uint32_t tile = 0; tile < packed.tiles; ++tile) {
        for (int lane = 0; lane < kLanes; ++lane) {
          for_each_held(lane, [&](int row, int k) {
            const auto at = first + input_of_row(inputs.is_map, step, static_cast<unsigned>(k));
            packed.values.push_back(
                half_of(tile * kNarrowTile + static_cast<std::size_t>(row), input_at[at]));
          });
        }
      }
    }
  }
  return packed;
}

std::vector<int> narrow_warps(std::int64_t chunks) {
  std::vector<int> found = {4};
  for (const int warps : {8, 16}) {
    if (chunks >= warps) found.push_back(warps);
  }
  return found;
}

}  // namespace winnow
