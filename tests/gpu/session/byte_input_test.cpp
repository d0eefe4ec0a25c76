// Sessions whose first convolution reads the network's input as it is given: floats or bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/session/session_plan.h"
#include "runtime/gpu/session/sub_batch_network.h"
#include "runtime/model/preprocessing.h"
#include "runtime/reference/reference_session.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

DeployedModel model_of(const Graph& graph, std::uint64_t seed) {
  RandomValues random(seed);
  DeployedModel model;
  model.graph = graph;
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      model.weights[parameter.name] =
          DenseWeight{parameter.shape, encode_f32(random.array(parameter.shape).values)};
    }
  }
  model.preprocessing = {{0.49f, 0.48f, 0.45f}, {0.25f, 0.24f, 0.26f}};
  return model;
}

// One convolution, so that a session of `stem` alone can run it.
DeployedModel stem_model(std::int64_t channels = 20) {
  return model_of(graph_of({3, 13, 11}, {{"conv", conv(3, channels, 3, 1), {}},
                                         {"relu", Relu{}, {}},
                                         {"pool", GlobalPool{PoolKind::average}, {}}}),
                  71);
}

SessionOptions stem_options(std::int64_t batch) {
  return {.batch = batch, .precision = Precision::f16, .family = "stem"};
}

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  RandomValues random(72);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  return bytes;
}

// As Engine does where a session takes floats alone.
std::vector<float> normalised(const DeployedModel& model, const std::vector<std::uint8_t>& bytes) {
  const Shape& shape = std::get<Input>(model.graph.nodes.front().op).shape;
  const std::vector<float> values = input_values(model.preprocessing, shape[0]);
  const auto plane = static_cast<std::size_t>(shape[1] * shape[2]);
  std::vector<float> input(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    input[i] = values[i / plane % static_cast<std::size_t>(shape[0]) * 256 + bytes[i]];
  }
  return input;
}

}  // namespace

TEST_CASE("a session whose first kernel reads bytes gives the bits that it gives on floats") {
  if (lacks_gpu()) return;
  const DeployedModel model = stem_model();
  for (const std::int64_t batch : {1, 9}) {
    for (const bool is_profiled : {false, true}) {
      SessionOptions options = stem_options(batch);
      options.is_profiled = is_profiled;
      const auto session = make_gpu_session(model, options);
      REQUIRE(session->takes_bytes());
      CHECK(session->layers()[0].kernel.starts_with("stem tile="));
      const auto bytes = random_bytes(static_cast<std::size_t>(batch * 3 * 13 * 11));
      const std::vector<float> input = normalised(model, bytes);
      std::vector<float> on_bytes(static_cast<std::size_t>(batch * 20));
      std::vector<float> on_floats(on_bytes.size()), expected(on_bytes.size());
      session->run_bytes(bytes, on_bytes);
      session->run(input, on_floats);
      CHECK(on_bytes == on_floats);
      make_reference_session(model, {.batch = batch})->run(input, expected);
      CHECK(relative_error(on_bytes, expected) <= 1e-2);
      const std::vector<float> other(input.size(), 1.0f);
      session->run(other, on_floats);
      CHECK(on_floats != on_bytes);
      std::vector<float> again(on_bytes.size());
      session->run_bytes(bytes, again);
      CHECK(again == on_bytes);
    }
  }
}

TEST_CASE("a network that runs its first steps on parts of the batch reads bytes too") {
  if (lacks_gpu()) return;
  GpuContext gpu(0);
  const DeployedModel model = stem_model();
  const auto whole = plan_batch(model, stem_options(12), gpu, false);
  const auto part = plan_batch(model, stem_options(4), gpu, false);
  const auto bytes = random_bytes(12 * 3 * 13 * 11);
  const std::vector<float> input = normalised(model, bytes);
  const DeviceBuffer<std::uint8_t> on_device = upload(bytes);
  std::vector<std::size_t> cuts = possible_cuts(part->planned, whole->planned);
  cuts.push_back(whole->planned.program.steps.size());
  for (const std::size_t cut : cuts) {
    CAPTURE(cut);
    NetworkMemory memory;
    const SubBatchNetwork network(part->planned, whole->planned, cut, memory, gpu.stream());
    REQUIRE(network.reads_bytes());
    gpu.synchronize();
    const auto output_of = [&](const auto& enqueue) {
      enqueue();
      gpu.synchronize();
      std::vector<float> values(12 * 20);
      CUDA_CHECK(cudaMemcpy(values.data(), network.output(), values.size() * sizeof(float),
                            cudaMemcpyDeviceToHost));
      return values;
    };
    copy_to_device(network.input(), input.data(), input.size() * sizeof(float));
    const auto on_floats = output_of([&] { network.enqueue(gpu.stream()); });
    const std::vector<float> other(input.size(), 1.0f);
    copy_to_device(network.input(), other.data(), other.size() * sizeof(float));
    const auto on_bytes =
        output_of([&] { network.enqueue_on_bytes(on_device.get(), gpu.stream()); });
    CHECK(on_bytes == on_floats);
  }
}

TEST_CASE(
    "a session refuses bytes of another number, and any where its first kernel reads floats") {
  if (lacks_gpu()) return;
  const auto session = make_gpu_session(stem_model(), stem_options(2));
  std::vector<float> output(40), short_output(39);
  const std::vector<std::uint8_t> bytes(2 * 3 * 13 * 11), few(10);
  CHECK_FALSE(error_of([&] { session->run_bytes(bytes, output); }).has_value());
  CHECK(message_of([&] { session->run_bytes(few, output); }) ==
        "input: got 10 values, expected 858");
  CHECK(error_of([&] { session->run_bytes(bytes, short_output); }) == ErrorCode::usage);

  const auto full = make_gpu_session(stem_model(), {.batch = 2, .family = "direct"});
  CHECK_FALSE(full->takes_bytes());
  CHECK(message_of([&] { full->run_bytes(bytes, output); }) == "this session takes no bytes");
  // Here a concatenation reads the input as well.
  DeployedModel joined = model_of(joined_graph(), 73);
  joined.preprocessing = {};
  const auto both = make_gpu_session(joined, {.batch = 8, .precision = Precision::f16});
  CHECK_FALSE(both->takes_bytes());
}

TEST_CASE("the stem family serves first convolutions in half precision, the dense plan's too") {
  if (lacks_gpu()) return;
  const DeployedModel model = stem_model(33);
  const auto candidates = [&](Precision precision, bool is_survey) {
    const SessionOptions options{.batch = 8, .precision = precision, .is_survey = is_survey};
    return make_gpu_session(model, options)->layers()[0].candidates;
  };
  const auto offers = [](const std::vector<CandidateTiming>& found, const std::string& text) {
    return std::ranges::any_of(found, [&](const CandidateTiming& candidate) {
      return candidate.family == "stem" && candidate.kernel.find(text) != std::string::npos;
    });
  };
  const std::vector<CandidateTiming> half = candidates(Precision::f16, false);
  CHECK(offers(half, " nhwc f16"));
  CHECK(offers(half, " nhwc padded 7 f16"));
  for (const CandidateTiming& candidate : half) {
    if (candidate.family == "stem") CHECK(candidate.rejected == "");
  }
  CHECK_FALSE(offers(candidates(Precision::f32, false), "stem"));
  CHECK_FALSE(offers(candidates(Precision::f16, true), "stem"));
  const auto dense = make_gpu_session(
      model, {.batch = 8, .precision = Precision::f16, .choice = KernelChoice::dense});
  const std::string family = dense->layers()[0].family;
  CHECK((family == "stem" || family == "dense"));

  const DeployedModel two = model_of(
      graph_of({3, 9, 9}, {{"first", conv(3, 8, 3, 1), {}}, {"second", conv(8, 8, 3, 1), {}}}), 74);
  CHECK(
      message_of([&] { make_gpu_session(two, stem_options(2)); }) ==
      "net: node 'second': no kernel can run it (stem: runs convolutions of the network's input)");
  const DeployedModel wide = model_of(graph_of({30, 9, 9}, {{"conv", conv(30, 8, 3, 1), {}}}), 75);
  DeployedModel plain = wide;
  plain.preprocessing = {};
  CHECK(message_of([&] { make_gpu_session(plain, stem_options(2)); }) ==
        "net: node 'conv': no kernel can run it (stem: reads more than 256 values for an output)");
}

TEST_CASE(
    "a network with sparse weights may begin with a dense first convolution, gathered after") {
  if (lacks_gpu()) return;
  RandomValues random(76);
  DeployedModel model = model_of(graph_of({3, 16, 18}, {{"first", conv(3, 40, 3, 1), {}},
                                                        {"relu", Relu{}, {}},
                                                        {"second", conv(40, 32, 3, 1), {}},
                                                        {"pool", GlobalPool{}, {}}}),
                                 77);
  model.weights["second.weight"] = random.weight(32, 360, 16, 0.2);
  const auto session = make_gpu_session(model, {.batch = 9, .precision = Precision::f16});
  const std::vector<LayerPlan> layers = session->layers();
  CHECK(std::ranges::any_of(layers[0].candidates, [](const CandidateTiming& candidate) {
    return candidate.kernel.starts_with("stem ") &&
           candidate.kernel.find(" nchw32c8n ") != std::string::npos;
  }));
  const std::vector<float> input = random.reals(9 * 3 * 16 * 18);
  std::vector<float> found(9 * 32), expected(9 * 32);
  session->run(input, found);
  make_reference_session(model, {.batch = 9})->run(input, expected);
  CHECK(relative_error(found, expected) <= 1e-2);
}

}  // namespace winnow
