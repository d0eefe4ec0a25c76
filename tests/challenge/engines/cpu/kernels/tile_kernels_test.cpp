#include "runtime/challenge/engines/cpu/kernels/tile_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/base/aligned_buffer.h"
#include "runtime/base/processor.h"
#include "runtime/base/random.h"
#include "runtime/challenge/engines/cpu/image_batch.h"
#include "runtime/challenge/engines/cpu/layer_tiles.h"

namespace winnow::challenge {
namespace {

struct NamedKernel {
  std::string name;
  TileKernel run;
};

std::vector<NamedKernel> kernels() {
  std::vector<NamedKernel> all;
  const auto add = [&](Isa isa, TileKernel kernel) {
    if (processor_has(isa) && kernel) all.push_back({std::string(to_string(isa)), kernel});
  };
  add(Isa::baseline, baseline_tile_kernel());
  add(Isa::avx2, avx2_tile_kernel());
  add(Isa::avx512, avx512_tile_kernel());
  return all;
}

// Groups of `sharing` outputs read the same random inputs, each with weights of its own.
SparseLayer layer_with_groups(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t sharing,
                              double density, Random& random) {
  SparseLayer layer{.inputs = inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  std::vector<std::uint32_t> shared;
  for (std::uint32_t j = 0; j < outputs; ++j) {
    if (j % sharing == 0) {
      shared.clear();
      for (std::uint32_t i = 0; i < inputs; ++i) {
        if (random.chance(density)) shared.push_back(i);
      }
    }
    layer.input.insert(layer.input.end(), shared.begin(), shared.end());
    for (std::size_t k = 0; k < shared.size(); ++k) {
      layer.value.push_back(static_cast<float>(random.uniform(-1, 1.5)));
    }
    layer.row_begin.push_back(layer.connections());
    layer.bias.push_back(static_cast<float>(random.uniform(-1, 1)));
  }
  return layer;
}

LayerTiles tiles_of(const SparseLayer& layer) {
  return make_layer_tiles(layer, order_by_inputs(layer), {});
}

// A slab's values and what a kernel makes of them.
struct SlabRun {
  AlignedBuffer in;
  AlignedBuffer out;
  LaneFlags alive;

  explicit SlabRun(const SparseLayer& layer)
      : in(std::int64_t{layer.inputs} * kSlabLanes),
        out(std::int64_t{layer.outputs()} * kSlabLanes) {}

  void run(TileKernel kernel, const LayerTiles& tiles, std::int64_t lanes = kSlabLanes) {
    kernel({.in = in.data(),
            .out = out.data(),
            .tile = tiles.tile.data(),
            .tiles = static_cast<std::int64_t>(tiles.tile.size()),
            .input = tiles.input.data(),
            .value = tiles.value.data(),
            .bias = tiles.bias.data(),
            .limit = kLargestActivation,
            .lanes = lanes,
            .alive = alive.lane.data()});
  }

  float& input(std::uint32_t neuron, std::size_t lane) {
    return in.span()[neuron * std::size_t{kSlabLanes} + lane];
  }
  float output(std::uint32_t neuron, std::size_t lane) const {
    return out.span()[neuron * std::size_t{kSlabLanes} + lane];
  }

  void fill(Random& random) {
    for (float& x : in.span()) {
      x = random.chance(0.4) ? 0 : static_cast<float>(random.uniform(0, 4));
    }
  }
};

double expected_output(const SparseLayer& layer, std::uint32_t j, std::size_t lane, SlabRun& run) {
  double z = 0;
  for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
    z += double{layer.value[k]} * run.input(layer.input[k], lane);
  }
  return std::clamp(z == 0 ? 0 : z + layer.bias[j], 0.0, 32.0);
}

void check_layer_output(const NamedKernel& kernel, const SparseLayer& layer, SlabRun& run) {
  const std::vector<std::uint32_t> place = places(order_by_inputs(layer));
  run.run(kernel.run, tiles_of(layer));
  for (std::size_t lane = 0; lane < kSlabLanes; ++lane) {
    bool is_alive = false;
    for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
      CAPTURE(j);
      CAPTURE(lane);
      const float found = run.output(place[j], lane);
      REQUIRE(found == doctest::Approx(expected_output(layer, j, lane, run)).epsilon(1e-5));
      is_alive |= found != 0;
    }
    CHECK((run.alive.lane[lane] != 0) == is_alive);
  }
}

}  // namespace

TEST_CASE("every tile kernel computes rows of all lengths in tiles of all heights") {
  for (const NamedKernel& kernel : kernels()) {
    CAPTURE(kernel.name);
    Random random(1);
    for (const std::uint32_t sharing : {1, 2, 3, 4, 8, 16, 31}) {
      for (const double density : {0.0, 0.02, 0.3, 1.0}) {
        CAPTURE(sharing);
        CAPTURE(density);
        const SparseLayer layer = layer_with_groups(67, 45, sharing, density, random);
        SlabRun run(layer);
        run.fill(random);
        check_layer_output(kernel, layer, run);
      }
    }
  }
}

TEST_CASE("the bias counts only where the sum is not zero, and values are clamped") {
  const SparseLayer layer{.inputs = 2,
                          .row_begin = {0, 2, 4, 6},
                          .input = {0, 1, 0, 1, 0, 1},
                          .value = {1, -1, 1, 1, 40, 0},
                          .bias = {5, -3, 5}};
  for (const NamedKernel& kernel : kernels()) {
    CAPTURE(kernel.name);
    SlabRun run(layer);
    run.input(0, 3) = 1;
    run.input(1, 3) = 1;
    run.input(0, 7) = 1;
    run.run(kernel.run, tiles_of(layer));
    CHECK(run.output(0, 3) == 0);   // 1 - 1
    CHECK(run.output(1, 3) == 0);   // 2 - 3
    CHECK(run.output(2, 3) == 32);  // 45
    CHECK(run.output(0, 7) == 6);
    CHECK(run.output(0, 0) == 0);  // nothing at all
    CHECK(run.alive.lane[0] == 0);
    CHECK(run.alive.lane[3] != 0);
  }
}

TEST_CASE("a sum has the same bits in every lane, however many are computed") {
  Random random(2);
  for (const NamedKernel& kernel : kernels()) {
    CAPTURE(kernel.name);
    for (const std::uint32_t sharing : {1, 2, 4, 8}) {
      CAPTURE(sharing);
      const SparseLayer layer = layer_with_groups(300, 16, sharing, 0.7, random);
      const LayerTiles tiles = tiles_of(layer);
      SlabRun all(layer), half(layer);
      for (std::uint32_t i = 0; i < layer.inputs; ++i) {
        const auto value = static_cast<float>(random.uniform(0, 0.1));
        for (std::size_t lane = 0; lane < kSlabLanes; ++lane) all.input(i, lane) = value;
        half.input(i, 5) = value;
      }
      all.run(kernel.run, tiles);
      half.run(kernel.run, tiles, kLaneMultiple);
      std::uint32_t between = 0;  // outputs that are not clamped
      for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
        between += all.output(j, 0) > 0 && all.output(j, 0) < 32 ? 1 : 0;
        for (std::size_t lane = 1; lane < kSlabLanes; ++lane) {
          REQUIRE(all.output(j, lane) == all.output(j, 0));
        }
        REQUIRE(half.output(j, 5) == all.output(j, 0));
      }
      CHECK(between > 8);
    }
  }
}

}  // namespace winnow::challenge
