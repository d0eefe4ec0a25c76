#include "runtime/challenge/engines/cusparse/products/spgemm.h"

#include <doctest/doctest.h>

#include "runtime/challenge/engines/cusparse/activations/sparse_activations.h"
#include "runtime/device/stream.h"
#include "tests/challenge/random_network.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {
namespace {

using RowRange = SparseActivations::RowRange;

// Cuts `range` in halves `depth` times.
std::vector<RowRange> pieces(const SparseActivations& activations, const RowRange& range,
                             int depth) {
  if (depth == 0 || range.rows() < 2) return {range};
  const auto [low, high] = activations.halves(range);
  std::vector<RowRange> all = pieces(activations, low, depth - 1);
  const std::vector<RowRange> more = pieces(activations, high, depth - 1);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void run_layer(SparseActivations& activations, Spgemm& spgemm, const SparseLayer& layer,
               int depth) {
  const DeviceCsr weights(weights_by_input(layer));
  const DeviceBuffer<float> bias = upload(layer.bias);
  for (const RowRange& range : pieces(activations, activations.whole(), depth)) {
    std::optional<CsrView> z;
    if (range.nonzeros() > 0) {
      z = spgemm.multiply(*activations.view(range, weights.view().rows), weights.view());
      REQUIRE(z.has_value());
    }
    activations.append(range, z, bias.get());
  }
  activations.finish();
}

}  // namespace

TEST_CASE("sparse activations multiplied in pieces of rows are those multiplied as a whole") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {90, 60, 71, 90}, .seed = 12});
  const SparseImages images = random_images(90, 77, 13);
  const ExpectedResult expected = expected_result(network, images);
  const Stream stream;
  const DeviceImages on_device = upload_images(images);
  Spgemm spgemm(stream.get());
  for (const int depth : {0, 1, 2, 7}) {
    CAPTURE(depth);
    SparseActivations activations(77, 90, stream.get());
    activations.load(on_device, {.first = 0, .last = 77, .first_one = 0, .ones = images.ones()});
    for (std::uint32_t l = 0; l < network.layers(); ++l) {
      if (depth % 2 == 1) {
        activations.drop_dead_rows();
        CHECK(activations.rows() == static_cast<std::int32_t>(expected.live[l]));
      }
      run_layer(activations, spgemm, network.layer(l), depth);
    }
    CHECK(activations.categories() == expected.categories);
  }
}

}  // namespace winnow::challenge
