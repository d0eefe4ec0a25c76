// Networks whose first steps run on parts of a batch equal the reference.
#include "runtime/gpu/session/sub_batch_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/session/session_plan.h"
#include "runtime/reference/reference_session.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/session/session_models.h"

namespace winnow {
namespace {

void check_cut(const DeployedModel& model, const BatchPlan& part, const BatchPlan& whole,
               std::size_t cut, GpuContext& gpu) {
  CAPTURE(cut);
  const Program& program = whole.planned.program;
  RandomValues random(111);
  const std::vector<float> input = input_for(model.graph, program.batch, random);
  const auto reference = make_reference_session(model, {.batch = program.batch});
  std::vector<float> expected(
      static_cast<std::size_t>(element_count(program.values[program.output].shape)));
  reference->run(input, expected);

  NetworkMemory memory;
  const SubBatchNetwork network(part.planned, whole.planned, cut, memory, gpu.stream());
  gpu.synchronize();
  copy_to_device(network.input(), input.data(), input.size() * sizeof(float));
  for (int run = 0; run < 2; ++run) {
    network.enqueue(gpu.stream());
    gpu.synchronize();
    std::vector<float> found(expected.size());
    CUDA_CHECK(cudaMemcpy(found.data(), network.output(), found.size() * sizeof(float),
                          cudaMemcpyDeviceToHost));
    CHECK(relative_error(found, expected) <= 1e-2);
  }
  const auto steps = network.step_values(gpu.stream());
  const auto expected_steps = reference->step_outputs();
  REQUIRE(steps.size() == expected_steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(program.steps[i].name);
    if (!steps[i].empty()) CHECK(relative_error(steps[i], expected_steps[i]) <= 1e-2);
  }
}

}  // namespace

TEST_CASE("a network runs its first steps on parts of the batch, for every cut") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  std::size_t found = 0;  // in one case or another both plans write a value in one format
  for (const std::string family : {"", "direct", "gathered"}) {
    for (const int vector : {1, 16}) {
      const DeployedModel model = model_of(chain_graph(), vector, 112);
      SessionOptions options{.batch = 24,
                             .precision = Precision::f16,
                             .choice = KernelChoice::sparse,
                             .family = family};
      CAPTURE(family);
      if (family == "gathered" && !gathered_missing_reason(options).empty()) continue;
      const auto whole = plan_batch(model, options, gpu, false);
      options.batch = 8;
      const auto part = plan_batch(model, options, gpu, false);
      std::vector<std::size_t> cuts = possible_cuts(part->planned, whole->planned);
      found += cuts.size();
      cuts.push_back(whole->planned.program.steps.size());
      for (const std::size_t cut : cuts) check_cut(model, *part, *whole, cut, gpu);
    }
  }
  CHECK(found > 0);
}

TEST_CASE("a network as a whole is compared with the dense one, and the faster one runs") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 16, 113);
  const auto session = make_gpu_session(model, {.batch = 16, .precision = Precision::f16});
  const std::vector<NetworkTiming> networks = session->network_timings();
  REQUIRE(!networks.empty());
  const auto is_chosen = [](const NetworkTiming& network) { return network.is_chosen; };
  REQUIRE(std::ranges::count_if(networks, is_chosen) == 1);
  const NetworkTiming chosen = *std::ranges::find_if(networks, is_chosen);
  for (const NetworkTiming& network : networks) {
    CAPTURE(network.name);
    CHECK(network.ms > 0);
    CHECK(chosen.ms <= network.ms);
  }
  const bool is_dense_there =
      std::ranges::any_of(networks, [](const auto& network) { return network.name == "dense"; });
  CHECK(is_dense_there == (networks.front().name == "dense"));
  if (chosen.name != "dense") return;
  for (const LayerPlan& layer : session->layers()) {
    if (layer.macs > 0) CHECK((layer.family == "dense" || layer.family == "stem"));
  }
}

}  // namespace winnow
