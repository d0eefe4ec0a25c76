// Measurement on a GPU beside plain loops.
#include <doctest/doctest.h>

#include "quantize/measured_network.h"
#include "tests/gpu/gpu_case.h"
#include "tests/model/graphs.h"
#include "tests/quantize/noise_images.h"
#include "tests/quantize/plain_loops.h"
#include "tests/quantize/random_networks.h"

namespace winnow {
namespace {

const Device kGpu = {Device::Kind::cuda, 0};

Model pruned_network() {
  Model model = random_network(joined_graph(), 3);
  prune_node(model, "conv2", 1, 0.4, 4);
  return model;
}

TEST_CASE("on a GPU steps of all kinds agree with plain loops, rounded or not") {
  if (lacks_gpu()) return;
  Model model = pruned_network();
  const ImageSet images = noise_images(75, {4, 6, 6});  // no whole number of a session's batches
  MeasuredNetwork network(model, kGpu);
  CHECK(network.device().starts_with("cuda:0 ("));
  const std::vector<float> plain = network.outputs(images);
  CHECK(relative_difference(by_plain_loops(model, images), plain) < 1e-5);

  // Sums of products end beside a step's border only by chance, and the steps are fine.
  model.activation_bits = 16;
  model.activation_frac = {{"input", 10}, {"relu1", 9}, {"conv2", 8}, {"sum", 8}, {"pool", 10}};
  network.round_activations(model.activation_bits, model.activation_frac);
  const std::vector<float> rounded = network.outputs(images);
  CHECK(relative_difference(by_plain_loops(model, images), rounded) < 1e-2);
  CHECK(rounded != plain);
}

TEST_CASE("on a GPU a network measures the same again, whatever the batch") {
  if (lacks_gpu()) return;
  const Model model = pruned_network();
  const ImageSet images = noise_images(75, {4, 6, 6});
  MeasuredNetwork network(model, kGpu);
  const std::vector<float> outputs = network.outputs(images);
  for (const std::int64_t batch : {1, 7, 64}) {
    CAPTURE(batch);
    CHECK(network.outputs(images, {batch}) == outputs);
  }
  const MeanInputs on_gpu = network.mean_layer_inputs(images);
  const MeanInputs on_cpu =
      MeasuredNetwork(model, {Device::Kind::cpu, 0}).mean_layer_inputs(images);
  REQUIRE(on_gpu.size() == on_cpu.size());
  for (const auto& [name, mean] : on_cpu) {
    CHECK(relative_difference(mean.values, on_gpu.at(name).values) < 1e-5);
  }
}

}  // namespace
}  // namespace winnow
