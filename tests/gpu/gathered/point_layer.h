// A linear layer and what the reference makes of it.
#pragma once

#include <algorithm>

#include "runtime/gpu/gathered/resident_weights.h"
#include "tests/gpu/conv_cases.h"
#include "tests/gpu/random_values.h"

namespace winnow {

struct PointCase {
  std::int64_t batch, in, out;
  int vector = 16;
  double density = 0.3;
  std::int64_t groups = 1;  // of channels
};

class PointLayer {
 public:
  PointLayer(const PointCase& c, RandomValues& random)
      : conv{.in_channels = c.in, .out_channels = c.out, .groups = c.groups},
        input(random.array({c.batch, c.in, 1, 1})),
        added(random.array({c.batch, c.out, 1, 1})),
        bias(random.reals(static_cast<std::size_t>(c.out))) {
    const CsrWeight weight = random.weight(c.out, c.in / c.groups, c.vector, c.density);
    groups = gathered_groups(block_csr(weight), conv);
    expected = expected_conv(conv, input, to_dense(weight), bias, false);
  }

  Extents in() const { return extents_of(input.shape); }
  Extents out() const { return extents_of(expected.shape); }

  // About `count` of all valid tiles, those for points and those for maps.
  std::vector<ResidentTile> some_tiles(const ResidentLimits& limits, std::size_t count,
                                       RandomValues& random) const {
    const std::vector<ResidentTile> all =
        valid_resident_tiles({.conv = conv, .in = in(), .out = out()}, limits);
    const std::size_t step = std::max<std::size_t>(1, all.size() / count);
    std::vector<ResidentTile> found;
    for (std::size_t t = random.below(step); t < all.size(); t += step) found.push_back(all[t]);
    return found;
  }

  ResidentConvWeights packed(const ResidentTile& tile, const std::vector<std::int32_t>& in_places,
                             const std::vector<std::int32_t>& out_places) const {
    const ResidentGeometry g = resident_geometry(tile, conv, in(), out());
    return pack_for_resident(groups, conv, tile, g, in_places, out_places);
  }

  reference::Array wanted(bool has_addend, bool has_relu) const {
    reference::Array result = expected;
    for (std::size_t i = 0; has_addend && i < result.values.size(); ++i) {
      result.values[i] += added.values[i];
    }
    return has_relu ? reference::relu(result) : result;
  }

  Conv conv;
  reference::Array input, expected, added;
  std::vector<float> bias;
  GatheredGroups groups;
};

// Ragged on purpose, and batches from 1 to 130.
inline std::vector<PointCase> point_cases() {
  return {{.batch = 1, .in = 5, .out = 7, .vector = 1},
          {.batch = 1, .in = 300, .out = 80, .vector = 16, .density = 0.1},
          {.batch = 3, .in = 33, .out = 100, .vector = 8},
          {.batch = 8, .in = 256, .out = 16, .vector = 32},
          {.batch = 9, .in = 70, .out = 40, .vector = 1, .density = 0.05},
          {.batch = 17, .in = 1000, .out = 33, .vector = 16, .density = 0.02},
          {.batch = 32, .in = 64, .out = 65, .vector = 8, .density = 1.0},
          {.batch = 63, .in = 96, .out = 48, .vector = 16, .groups = 3},
          {.batch = 64, .in = 500, .out = 20, .vector = 32, .density = 0.1},
          {.batch = 128, .in = 40, .out = 260, .vector = 16, .density = 0.2},
          {.batch = 130, .in = 129, .out = 31, .vector = 1, .density = 0.2},
          {.batch = 12, .in = 90, .out = 50, .vector = 16, .density = 0.0}};
}

}  // namespace winnow
