#include "runtime/gpu/session/gpu_session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>

#include "runtime/base/file.h"
#include "runtime/gpu/dense/cudnn_conv.h"
#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/reference/reference_session.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/gpu/session/session_models.h"
#include "tests/model/graphs.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// Sparse linear layers in a chain, none of them dense: the stack of a deployed multilayer
// perceptron.
Graph stack_graph() {
  return graph_of({40}, {{"fc1", Linear{40, 90, true}, {}},
                         {"relu1", Relu{}, {}},
                         {"fc2", Linear{90, 33, true}, {}},
                         {"relu2", Relu{}, {}},
                         {"fc3", Linear{33, 70, false}, {}},
                         {"fc4", Linear{70, 10, true}, {}},
                         {"out", Softmax{}, {}}});
}

DeployedModel stack_model(int vector, std::uint64_t seed, double density = 0.2) {
  DeployedModel model = model_of(stack_graph(), vector, seed);
  RandomValues random(seed);
  for (const Node& node : model.graph.nodes) {
    const auto* linear = std::get_if<Linear>(&node.op);
    if (linear == nullptr) continue;
    model.weights[node.name + ".weight"] =
        random.weight(linear->out_features, linear->in_features, vector, density);
  }
  return model;
}

bool is_offered(const LayerPlan& layer, const std::string& family) {
  return std::ranges::any_of(layer.candidates, [&](const CandidateTiming& candidate) {
    return candidate.family == family;
  });
}

// Whether a case of dense sessions must end here. ctest counts it as skipped.
bool lacks_cudnn() {
  GpuContext gpu(0);
  const std::string reason = cudnn_missing_reason(gpu);
  if (!reason.empty()) std::printf("skipped: no cuDNN (%s)\n", reason.c_str());
  return !reason.empty();
}

// Runs a model as `options` say and compares all its values with the reference.
void check_session(const DeployedModel& model, const SessionOptions& options) {
  RandomValues random(31);
  const auto reference = make_reference_session(model, {.batch = options.batch});
  const auto session = make_gpu_session(model, options);
  const std::size_t outputs =
      session->layers().back().output_shape.empty()
          ? 0
          : static_cast<std::size_t>(element_count(session->layers().back().output_shape));
  // Weights of fp16 kernels are rounded too, and errors add up over the layers.
  const double allowed = options.precision == Precision::f32 ? 1e-4 : 1e-2;
  CAPTURE(model.graph.nodes[1].name);
  CAPTURE(options.batch);
  CAPTURE(static_cast<int>(options.choice));
  CAPTURE(static_cast<int>(options.precision));
  for (int run = 0; run < 2; ++run) {
    const std::vector<float> input = input_for(model.graph, options.batch, random);
    std::vector<float> expected(outputs), found(outputs, -1.0f), again(outputs);
    reference->run(input, expected);
    session->run(input, found);
    CHECK(relative_error(found, expected) <= allowed);
    session->run(input, again);
    CHECK(found == again);
  }
  const auto expected_steps = reference->step_outputs();
  const auto found_steps = session->step_outputs();
  REQUIRE(found_steps.size() == expected_steps.size());
  for (std::size_t i = 0; i < found_steps.size(); ++i) {
    CAPTURE(session->layers()[i].name);
    CAPTURE(session->layers()[i].kernel);
    if (found_steps[i].empty()) {
      CHECK(session->layers()[i].kernel.find(", in the launch of ") != std::string::npos);
      continue;
    }
    CHECK(relative_error(found_steps[i], expected_steps[i]) <= allowed);
  }
}

}  // namespace

TEST_CASE("a sparse GPU session equals the reference session") {
  if (lacks_gpu()) return;
  const std::vector<DeployedModel> models = {
      model_of(chain_graph(), 1, 41), model_of(chain_graph(), 8, 42),
      model_of(joined_graph(), 1, 43), model_of(text_graph(), 16, 44)};
  for (const DeployedModel& model : models) {
    for (const Precision precision : {Precision::f32, Precision::f16}) {
      for (const std::int64_t batch : {1, 9}) {
        check_session(model,
                      {.batch = batch, .precision = precision, .choice = KernelChoice::sparse});
      }
    }
  }
}

TEST_CASE("a GPU session keeps upper bounds of relus and windows that are no plain ones") {
  if (lacks_gpu()) return;
  const Pool largest{.kernel = {2, 2}, .stride = {2, 2}, .rounds_up = true};
  const Pool mean{.kind = PoolKind::average,
                  .kernel = {3, 3},
                  .stride = {2, 2},
                  .padding = {0, 1},
                  .padding_end = Pair{1, 0},
                  .rounds_up = true,
                  .counts_padding = false};
  const Graph graph = graph_of({3, 13, 11}, {{"conv1", conv(3, 32, 3, 1), {}},
                                             {"relu1", Relu{0.5}, {}},
                                             {"pool1", largest, {}},  // 7 x 6
                                             {"conv2", conv(32, 32, 3, 1), {}},
                                             {"sum", Add{}, {"conv2", "pool1"}},
                                             {"relu2", Relu{0.75}, {}},
                                             {"conv3", conv(32, 24, 1), {}},
                                             {"pool3", largest, {}},  // 4 x 3
                                             {"pool4", mean, {}},     // 2 x 2
                                             {"flat", Flatten{}, {}},
                                             {"fc1", Linear{24 * 2 * 2, 20, true}, {}},
                                             {"relu3", Relu{0.25}, {}},
                                             {"fc2", Linear{20, 10, true}, {}}});
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    for (const std::int64_t batch : {1, 9}) {
      check_session(model_of(graph, 8, 45),
                    {.batch = batch, .precision = precision, .choice = KernelChoice::sparse});
      check_session(model_of(graph, 1, 46), {.batch = batch, .precision = precision});
    }
  }
}

TEST_CASE("a dense GPU session equals the reference session") {
  if (lacks_gpu() || lacks_cudnn()) return;
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    const SessionOptions options{.batch = 3, .precision = precision, .choice = KernelChoice::dense};
    check_session(model_of(chain_graph(), 8, 52), options);
    check_session(model_of(joined_graph(), 1, 53), options);
  }
}

TEST_CASE("a measured GPU session equals the reference session") {
  if (lacks_gpu()) return;
  check_session(model_of(chain_graph(), 1, 54), {.batch = 9, .precision = Precision::f16});
  check_session(model_of(joined_graph(), 8, 55), {.batch = 2, .precision = Precision::f32});
  check_session(model_of(text_graph(), 1, 56), {.batch = 1, .precision = Precision::f16});
}

TEST_CASE("a GPU session runs a stack of linear layers with every family") {
  if (lacks_gpu()) return;
  for (const std::string family : {"linear_stack", "linear_gather", "sparse_linear", ""}) {
    for (const Precision precision : {Precision::f32, Precision::f16}) {
      for (const std::int64_t batch : {1, 16, 33, 700}) {
        if (family == "linear_gather" && batch < 16) continue;
        const DeployedModel model = stack_model(batch == 33 ? 8 : 1, 57);
        CAPTURE(family);
        check_session(model, {.batch = batch, .precision = precision, .family = family});
      }
    }
  }
}

TEST_CASE("a GPU session runs a stack of linear layers in one launch") {
  if (lacks_gpu()) return;
  const DeployedModel model = stack_model(1, 58);
  const auto session = make_gpu_session(model, {.batch = 64, .family = "linear_stack"});
  const std::vector<LayerPlan> layers = session->layers();
  REQUIRE(layers.size() == 5);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(layers[i].kernel == "linear_stack, in the launch of fc4");
    CHECK(session->step_outputs()[i].empty());
    CHECK(session->time_layers(0, 1)[i][0] == 0);
  }
  CHECK(layers[3].kernel == "linear_stack of 4 f32 tile=4 from fc1");
  CHECK(session->time_layers(0, 1)[3][0] > 0);
  const std::vector<LayerPlan> measured = make_gpu_session(model, {.batch = 64})->layers();
  for (std::size_t i = 0; i < 4; ++i) CHECK(is_offered(measured[i], "linear_stack"));
  CHECK(is_offered(measured[1], "linear_gather"));
  // A dense layer between them makes two runs.
  DeployedModel parted = stack_model(1, 58);
  const Shape shape{33, 90};
  parted.weights["fc2.weight"] =
      DenseWeight{shape, encode_f32(RandomValues(59).array(shape).values)};
  check_session(parted, {.batch = 64, .choice = KernelChoice::sparse});
  check_session(parted, {.batch = 64});
}

TEST_CASE("a GPU session leaves stacks out where too many weights are left, unless asked") {
  if (lacks_gpu()) return;
  const DeployedModel model = stack_model(1, 60, 0.6);
  const std::vector<LayerPlan> measured = make_gpu_session(model, {.batch = 8})->layers();
  CHECK_FALSE(is_offered(measured[3], "linear_stack"));
  check_session(model, {.batch = 8, .family = "linear_stack"});
}

TEST_CASE("a GPU session runs linear layers of few outputs with narrow_linear") {
  if (lacks_gpu()) return;
  const Graph graph = graph_of({6, 3, 5}, {{"flat", Flatten{}, {}},
                                           {"fc1", Linear{90, 64, true}, {}},
                                           {"relu1", Relu{}, {}},
                                           {"fc2", Linear{64, 33, false}, {}},
                                           {"fc3", Linear{33, 10, true}, {}},
                                           {"out", Softmax{}, {}}});
  const DeployedModel model = model_of(graph, 8, 71);
  for (const std::int64_t batch : {1, 9, 130}) {
    const SessionOptions options{
        .batch = batch, .precision = Precision::f16, .family = "narrow_linear"};
    check_session(model, options);
    for (const LayerPlan& layer : make_gpu_session(model, options)->layers()) {
      if (layer.op == "linear") CHECK(layer.family == "narrow_linear");
    }
  }
  CHECK(error_of([&] {
          make_gpu_session(stack_model(1, 72),
                           {.batch = 1, .precision = Precision::f16, .family = "narrow_linear"});
        }) == ErrorCode::usage);
  CHECK(error_of([&] { make_gpu_session(model, {.batch = 1, .family = "narrow_linear"}); }) ==
        ErrorCode::usage);
}

// Behind sparse convolutions: flattened maps of 1 x 1 and of 4 x 4.
TEST_CASE("a GPU session offers narrow_linear on flattened maps, to dense networks too") {
  if (lacks_gpu()) return;
  for (const std::int64_t side : {1, 4}) {
    const Graph graph =
        graph_of({3, 4 * side, 4 * side}, {{"conv1", conv(3, 64, 3, 1), {}},
                                           {"relu1", Relu{}, {}},
                                           {"pool1", Pool{}, {}},
                                           {"conv2", conv(64, 80, 3, 1), {}},
                                           {"relu2", Relu{}, {}},
                                           {"pool2", Pool{}, {}},
                                           {"flat", Flatten{}, {}},
                                           {"fc", Linear{80 * side * side, 10, true}, {}}});
    DeployedModel model = model_of(graph, 16, 73);
    const Shape shape{10, 80 * side * side};
    model.weights["fc.weight"] =
        DenseWeight{shape, encode_f32(RandomValues(74).array(shape).values)};
    for (const std::int64_t batch : {1, 16, 130}) {
      const SessionOptions options{.batch = batch, .precision = Precision::f16};
      check_session(model, options);
      SessionOptions sparse = options;
      sparse.choice = KernelChoice::sparse;
      check_session(model, sparse);
      const std::vector<LayerPlan> layers = make_gpu_session(model, options)->layers();
      const LayerPlan &flat = layers[layers.size() - 2], &fc = layers.back();
      int rows = 0, maps = 0;
      for (const CandidateTiming& candidate : fc.candidates) {
        if (candidate.family != "narrow_linear") continue;
        CAPTURE(candidate.kernel);
        CHECK(candidate.rejected == "");
        (candidate.kernel.find(" from nchw32c8n ") == std::string::npos ? rows : maps) += 1;
      }
      CHECK(rows > 0);
      CHECK(maps > 0);
      const bool reads_map = fc.kernel.find(" from nchw32c8n ") != std::string::npos;
      CHECK(reads_map == (flat.kernel == "flatten, in the launch of fc"));
    }
    if (lacks_cudnn()) continue;
    const SessionOptions dense{
        .batch = 16, .precision = Precision::f16, .choice = KernelChoice::dense};
    check_session(model, dense);
    const std::string family = make_gpu_session(model, dense)->layers().back().family;
    CHECK((family == "dense" || family == "narrow_linear"));
  }
}

TEST_CASE("a GPU session times padded rows where they may gain, else only when asked") {
  if (lacks_gpu()) return;
  const auto model_with = [](const std::vector<std::int64_t>& lengths) {
    RandomValues random(61);
    DeployedModel model;
    model.graph = graph_of({8, 6, 6}, {{"conv", conv(8, 4, 3, 1), {}}, {"pool", GlobalPool{}, {}}});
    model.weights["conv.weight"] = random.weight(lengths, 72, 1);
    model.weights["conv.bias"] = DenseWeight{{4}, encode_f32(random.reals(4))};
    return model;
  };
  const auto measured = [](const DeployedModel& model) {
    return make_gpu_session(model, {.batch = 4})->layers()[0];
  };
  const DeployedModel few = model_with({16, 12, 16, 12}), equal = model_with({16, 16, 16, 16});
  const DeployedModel many = model_with({64, 4, 4, 4});
  CHECK(is_offered(measured(few), "direct_ell"));
  CHECK_FALSE(is_offered(measured(equal), "direct_ell"));
  CHECK_FALSE(is_offered(measured(many), "direct_ell"));
  for (const DeployedModel& model : {few, equal, many}) {
    CHECK(is_offered(measured(model), "direct"));
    check_session(model, {.batch = 4, .family = "direct_ell"});
  }
}

// Residual blocks, pools and a concatenation between convolutions that may lie gathered.
Graph residual_graph() {
  return graph_of({3, 20, 18}, {{"conv1", conv(3, 32, 3, 1), {}},
                                {"relu1", Relu{}, {}},
                                {"pool1", Pool{}, {}},
                                {"conv2", conv(32, 40, 3, 1), {}},
                                {"relu2", Relu{}, {}},
                                {"conv3", conv(40, 32, 3, 1), {}},
                                {"sum1", Add{}, {"conv3", "pool1"}},
                                {"relu3", Relu{}, {}},
                                {"conv4", strided(conv(32, 64, 1), 2, 1), {"relu3"}},
                                {"conv5", strided(conv(32, 64, 3, 1), 2, 2), {"relu3"}},
                                {"sum2", Add{}, {"conv4", "conv5"}},
                                {"relu4", Relu{}, {}},
                                {"conv6", conv(64, 48, 3, 1), {}},
                                {"both", Concat{}, {"relu4", "conv6"}},
                                {"conv7", conv(112, 33, 1), {}},
                                {"pool7", Pool{.kind = PoolKind::average}, {}},
                                {"flat", Flatten{}, {}},
                                {"fc1", Linear{33 * 2 * 2, 50, true}, {}},
                                {"relu5", Relu{}, {}},
                                {"fc2", Linear{50, 10, true}, {}}});
}

TEST_CASE("a GPU session runs gathered convolutions, alone and with what reads them") {
  if (lacks_gpu()) return;
  const SessionOptions asked{.batch = 16, .precision = Precision::f16, .family = "gathered"};
  const std::string reason = gathered_missing_reason(asked);
  if (!reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return;
  }
  for (const int vector : {1, 8, 16, 32}) {
    const DeployedModel model = model_of(residual_graph(), vector, 62);
    for (const std::int64_t batch : {1, 4, 9, 16, 130}) {
      check_session(model, {.batch = batch, .precision = Precision::f16, .family = "gathered"});
    }
    check_session(model, {.batch = 16, .precision = Precision::f16});
    check_session(model, {.batch = 9, .precision = Precision::f16, .choice = KernelChoice::sparse});
  }
  const DeployedModel model = model_of(residual_graph(), 16, 63);
  for (const LayerPlan& layer : make_gpu_session(model, asked)->layers()) {
    if (layer.op == "conv2d" || layer.op == "linear") CHECK(layer.family == "gathered");
    const bool may_compute = layer.name == "pool1" || layer.name == "sum1" ||
                             layer.name == "sum2" || layer.name == "pool7";
    CHECK(may_compute ==
          (layer.op != "conv2d" && layer.op != "linear" && is_offered(layer, "gathered")));
  }
  const auto full = make_gpu_session(model, {.batch = 16});
  for (const LayerPlan& layer : full->layers()) CHECK_FALSE(is_offered(layer, "gathered"));
}

TEST_CASE("a GPU session adds in the launches of cuDNN's convolutions") {
  if (lacks_gpu() || lacks_cudnn()) return;
  const DeployedModel model = model_of(residual_graph(), 16, 64);
  for (const Precision precision : {Precision::f32, Precision::f16}) {
    const SessionOptions dense{.batch = 9, .precision = precision, .family = "dense"};
    check_session(model, dense);
    check_session(model, {.batch = 9, .precision = precision, .choice = KernelChoice::dense});
    for (const LayerPlan& layer : make_gpu_session(model, dense)->layers()) {
      const bool may_compute = layer.name == "sum1" || layer.name == "sum2";
      const bool has_weights = layer.op == "conv2d" || layer.op == "linear";
      CHECK((may_compute || has_weights) == is_offered(layer, "dense"));
    }
  }
}

// A kernel that is right for a sum with a convolution, in this layout.
bool has_right_sum(const LayerPlan& layer, const std::string& layout) {
  return std::ranges::any_of(layer.candidates, [&](const CandidateTiming& one) {
    return one.rejected.empty() && one.kernel.find(layout) != std::string::npos &&
           one.kernel.find(" with conv") != std::string::npos;
  });
}

TEST_CASE("a GPU session adds in cuDNN's launches in all layouts, and the sums pass the check") {
  if (lacks_gpu() || lacks_cudnn()) return;
  const Graph ragged = graph_of({5, 9, 9}, {{"conv1", conv(5, 12, 3, 1), {}},
                                            {"relu1", Relu{}, {}},
                                            {"conv2", conv(12, 12, 3, 1), {}},
                                            {"sum", Add{}, {"relu1", "conv2"}},
                                            {"relu2", Relu{}, {}},
                                            {"conv3", conv(12, 12, 1), {}},
                                            {"last", Add{}, {"conv3", "relu2"}},
                                            {"pool", GlobalPool{}, {}}});
  const DeployedModel model = model_of(ragged, 1, 65);
  for (const int precision : {0, 1, 2}) {
    SessionOptions dense{.batch = 5, .family = "dense", .use_tf32 = precision == 2};
    if (precision == 1) dense.precision = Precision::f16;
    if (precision != 2) check_session(model, dense);  // TF32 is further off than the case allows
    for (const LayerPlan& layer : make_gpu_session(model, dense)->layers()) {
      if (layer.name != "sum" && layer.name != "last") continue;
      CAPTURE(precision);
      for (const std::string layout : {" nhwc ", " nchw "}) CHECK(has_right_sum(layer, layout));
      CHECK(has_right_sum(layer, " padded with conv") == (precision > 0));
    }
  }
}

TEST_CASE("a GPU session runs every batch size") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 16, 45);
  for (const std::int64_t batch : {2, 3, 4, 7, 8, 33, 128}) {
    check_session(model, {.batch = batch, .choice = KernelChoice::sparse});
  }
}

TEST_CASE("a GPU session takes the family and the sub-batch that it is asked for") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 8, 46);
  for (const int sub_batch : {1, 2, 4, 8}) {
    const SessionOptions options{.batch = 8, .family = "direct", .sub_batch = sub_batch};
    check_session(model, options);
    for (const LayerPlan& layer : make_gpu_session(model, options)->layers()) {
      if (layer.op != "conv2d" && layer.op != "linear") continue;
      CHECK(layer.family == "direct");
      const std::string text = "sub_batch=" + std::to_string(sub_batch) + " ";
      CHECK(layer.kernel.find(text) != std::string::npos);
    }
  }
}

TEST_CASE("a GPU session lists what it measured and describes its layers") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 47);
  const auto session = make_gpu_session(model, {.batch = 4});
  const std::vector<LayerPlan> layers = session->layers();
  REQUIRE(!layers.empty());
  CHECK(layers[0].name == "conv1");
  CHECK(layers[0].macs == 4 * 16 * 13 * 11 * 27);
  CHECK(session->device().starts_with("cuda:0 ("));
  for (const LayerPlan& layer : layers) {
    CAPTURE(layer.name);
    CHECK(!layer.candidates.empty());
    const auto is_chosen = [&](const CandidateTiming& timing) {
      return timing.kernel == layer.kernel && timing.family == layer.family;
    };
    CHECK(std::any_of(layer.candidates.begin(), layer.candidates.end(), is_chosen));
  }
  const auto sparse = make_gpu_session(model, {.batch = 4, .choice = KernelChoice::sparse});
  CHECK(sparse->layers()[0].candidates.empty());
}

TEST_CASE("a GPU session times the network and its layers") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 48);
  for (const bool is_profiled : {false, true}) {
    const auto session = make_gpu_session(
        model, {.batch = 8, .choice = KernelChoice::sparse, .is_profiled = is_profiled});
    RandomValues random(49);
    const std::vector<float> input = input_for(model.graph, 8, random);
    std::vector<float> before(80), after(80);
    session->run(input, before);
    session->set_input(input);
    const std::vector<double> network = session->time_network(1, 5);
    const std::vector<std::vector<double>> layers = session->time_layers(1, 3);
    CHECK(network.size() == 5);
    for (const double ms : network) CHECK(ms > 0);
    REQUIRE(layers.size() == session->layers().size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      CHECK(layers[i].size() == 3);
      if (session->layers()[i].op == "conv2d") CHECK(layers[i][0] > 0);
    }
    session->run(input, after);
    CHECK(before == after);
  }
}

TEST_CASE("a GPU session may round dense layers to TF32, near the reference, and says so") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 51);
  const SessionOptions options{
      .batch = 8, .choice = KernelChoice::dense, .use_tf32 = true, .all_plans = true};
  if (lacks_cudnn()) return;
  RandomValues random(52);
  const std::vector<float> input = input_for(model.graph, 8, random);
  std::vector<float> expected(80), found(80);
  make_reference_session(model, {.batch = 8})->run(input, expected);
  make_gpu_session(model, options)->run(input, found);
  CHECK(relative_error(found, expected) <= 1e-2);
  const auto measured = make_gpu_session(model, {.batch = 8, .use_tf32 = true});
  int tf32 = 0;
  for (const LayerPlan& layer : measured->layers()) {
    for (const CandidateTiming& candidate : layer.candidates) {
      tf32 += candidate.kernel.find(" tf32 ") != std::string::npos ? 1 : 0;
    }
  }
  CHECK(tf32 > 0);
}

// The kernel of every layer, a line each.
std::string kernels_of(const Session& session) {
  std::string kernels;
  for (const LayerPlan& layer : session.layers()) kernels += layer.kernel + "\n";
  return kernels;
}

SessionOptions cached_options(const std::string& folder, std::int64_t batch) {
  SessionOptions options;
  options.batch = batch;
  options.timings.cache = std::make_shared<TimingCache>(folder);
  return options;
}

TEST_CASE("a GPU session with a warm cache measures nothing and runs the same kernels") {
  if (lacks_gpu()) return;
  struct Case {
    DeployedModel model;
    std::int64_t batch = 1;
    Precision precision = Precision::f32;
    KernelChoice choice = KernelChoice::measured;
  };
  const DeployedModel chain = model_of(chain_graph(), 1, 61),
                      wide = model_of(chain_graph(), 16, 62);
  const DeployedModel text = model_of(text_graph(), 1, 63), stack = stack_model(1, 64);
  const Case cases[] = {
      {chain, 1, Precision::f32, KernelChoice::measured},
      {wide, 33, Precision::f16, KernelChoice::measured},
      {text, 8, Precision::f16, KernelChoice::measured},
      {stack, 64, Precision::f32, KernelChoice::measured},
      {wide, 33, Precision::f32, KernelChoice::sparse},
      {stack, 64, Precision::f16, KernelChoice::sparse},
      {chain, 1, Precision::f16, KernelChoice::dense},
      {text, 8, Precision::f32, KernelChoice::dense},
      {model_of(residual_graph(), 16, 66), 9, Precision::f16, KernelChoice::dense}};
  for (const Case& one : cases) {
    if (one.choice == KernelChoice::dense && lacks_cudnn()) continue;
    const TemporaryDirectory directory;
    const auto plan = [&](bool lists) {
      SessionOptions options = cached_options(directory.path(), one.batch);
      options.precision = one.precision;
      options.choice = one.choice;
      options.timings.lists_candidates = lists;
      auto session = make_gpu_session(one.model, options);
      CHECK(options.timings.cache->notice() == "");
      return session;
    };
    const auto cold = plan(false);
    CHECK(cold->timing_counts().measured > 0);
    const auto warm = plan(false);
    CHECK(warm->timing_counts().measured == 0);
    CHECK(warm->timing_counts().cached > 0);
    CHECK(kernels_of(*warm) == kernels_of(*cold));
    for (const LayerPlan& layer : warm->layers()) CHECK(layer.candidates.empty());
    const auto listed = plan(true);
    CHECK(listed->timing_counts().measured == 0);
    CHECK(kernels_of(*listed) == kernels_of(*cold));
    RandomValues random(65);
    const std::vector<float> input = input_for(one.model.graph, one.batch, random);
    const std::int64_t outputs = infer_shapes(one.model.graph, 1).back().back() * one.batch;
    std::vector<float> before(static_cast<std::size_t>(outputs)), after(before.size());
    cold->run(input, before);
    warm->run(input, after);
    CHECK(relative_error(after, before) <= 1e-3);
  }
}

TEST_CASE("a GPU session's times count for one precision, and may be taken with a cold cache") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 66);
  const TemporaryDirectory directory;
  make_gpu_session(model, cached_options(directory.path(), 4));
  SessionOptions half = cached_options(directory.path(), 4);
  half.precision = Precision::f16;
  CHECK(make_gpu_session(model, half)->timing_counts().measured > 0);
  SessionOptions tf32 = cached_options(directory.path(), 4);
  tf32.use_tf32 = true;
  CHECK(make_gpu_session(model, tf32)->timing_counts().measured > 0);
  SessionOptions cold = cached_options(directory.path(), 4);
  cold.timings.wants_cold = true;
  cold.timings.lists_candidates = true;
  const auto session = make_gpu_session(model, cold);
  CHECK(session->timing_counts().measured > 0);
  for (const LayerPlan& layer : session->layers()) {
    for (const CandidateTiming& candidate : layer.candidates) {
      CAPTURE(candidate.kernel);
      if (candidate.ms > 0) CHECK(candidate.cold_ms > 0);
      CHECK(candidate.min_ms <= candidate.ms);
    }
  }
  SessionOptions again = cached_options(directory.path(), 4);
  again.timings.wants_cold = true;
  CHECK(make_gpu_session(model, again)->timing_counts().measured == 0);
}

TEST_CASE("no kernel of ours is rejected for its result, in any precision") {
  if (lacks_gpu()) return;
  for (const std::int64_t batch : {1, 40}) {
    for (const int vector : {1, 16}) {
      for (const bool is_stack : {false, true}) {
        const DeployedModel model =
            is_stack ? stack_model(vector, 67) : model_of(chain_graph(), vector, 68);
        for (const int precision : {0, 1, 2}) {
          SessionOptions options;
          options.batch = batch;
          options.precision = precision == 1 ? Precision::f16 : Precision::f32;
          options.use_tf32 = precision == 2;
          for (const LayerPlan& layer : make_gpu_session(model, options)->layers()) {
            for (const CandidateTiming& candidate : layer.candidates) {
              CAPTURE(layer.name);
              CAPTURE(candidate.kernel);
              if (candidate.family != "dense") CHECK(candidate.rejected == "");
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a kernel that the cache says was rejected does not run on the GPU") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 69);
  const TemporaryDirectory directory;
  SessionOptions options = cached_options(directory.path(), 4);
  options.timings.lists_candidates = true;
  const auto plan_conv2 = [&] {
    const std::vector<LayerPlan> layers = make_gpu_session(model, options)->layers();
    return *std::ranges::find(layers, "conv2", &LayerPlan::name);
  };
  const LayerPlan before = plan_conv2();
  REQUIRE(before.candidates.size() > 1);
  const std::string winner = before.candidates[0].kernel;
  std::istringstream lines(read_text_file(options.timings.cache->path()));
  int rejected = 0;
  for (std::string line; std::getline(lines, line);) {
    const TimingEntry entry = *entry_of(line);
    if (!entry.key.ends_with(" | " + winner)) continue;
    options.timings.cache->keep(entry.place, entry.key, rejected_for("is off by 1"));
    ++rejected;
  }
  CHECK(rejected > 0);
  const LayerPlan after = plan_conv2();
  CHECK(after.kernel != winner);
  CHECK(after.candidates.back().kernel == winner);
  CHECK(after.candidates.back().rejected == "is off by 1");
}

TEST_CASE("a survey times kernels of single layers by their mask") {
  if (lacks_gpu()) return;
  SessionOptions options;
  options.batch = 4;
  options.is_survey = true;
  for (const LayerPlan& layer :
       make_gpu_session(model_of(chain_graph(), 16, 70), options)->layers()) {
    if (layer.macs == 0) continue;
    CAPTURE(layer.name);
    CHECK(!layer.candidates.empty());
    if (layer.weight_sparsity < 0.1) continue;
    for (const CandidateTiming& candidate : layer.candidates) CHECK(candidate.family != "dense");
  }
}

TEST_CASE("the place of a GPU's times names device and versions") {
  if (lacks_gpu()) return;
  const TimingPlace place = gpu_timing_place(0);
  CAPTURE(place.device);
  CAPTURE(place.software);
  CHECK(place.device.find(", sm_") != std::string::npos);
  CHECK(place.software.starts_with("driver "));
  for (const std::string part : {", CUDA ", "cuDNN", "cuBLASLt", "winnow "}) {
    CHECK(place.software.find(part) != std::string::npos);
  }
}

TEST_CASE("a GPU session refuses what it cannot do") {
  if (lacks_gpu()) return;
  const DeployedModel model = model_of(chain_graph(), 1, 50);
  const auto refusal = [&](const SessionOptions& options) {
    return error_of([&] { make_gpu_session(model, options); });
  };
  CHECK(refusal({.precision = Precision::f16, .use_tf32 = true}) == ErrorCode::usage);
  CHECK(refusal({.family = "dierct"}) == ErrorCode::usage);
  CHECK(refusal({.family = "sparse_linear"}) == ErrorCode::usage);  // it has convolutions
  CHECK(refusal({.family = "linear_stack"}) == ErrorCode::usage);
  CHECK(refusal({.family = "linear_gather"}) == ErrorCode::usage);
  CHECK(refusal({.sub_batch = 3}) == ErrorCode::usage);
  CHECK(refusal({.gpu = 99}) == ErrorCode::device);

  const auto session = make_gpu_session(model, {.choice = KernelChoice::sparse});
  std::vector<float> input(3 * 13 * 11), output(10), short_output(9);
  CHECK(error_of([&] { session->run(input, short_output); }) == ErrorCode::usage);
  CHECK(error_of([&] { session->run(output, output); }) == ErrorCode::usage);
  CHECK_FALSE(error_of([&] { session->run(input, output); }).has_value());

  const auto text = make_gpu_session(model_of(text_graph(), 1, 51), {});
  std::vector<float> tokens(9, 0.0f), classes(2);
  tokens[3] = 50;  // the table has 50 rows
  CHECK(error_of([&] { text->run(tokens, classes); }) == ErrorCode::usage);
  tokens[3] = 1.5f;
  CHECK(error_of([&] { text->run(tokens, classes); }) == ErrorCode::usage);
}

TEST_CASE("gpu_description names the GPU, or says why there is none") {
  CHECK(gpu_is_available() == gpu_unavailable_reason().empty());
  if (!gpu_is_available()) {
    CHECK(error_of([] { gpu_description(0); }) == ErrorCode::device);
    return;
  }
  CHECK(gpu_description(0).find(", sm_") != std::string::npos);
  CHECK(error_of([] { gpu_description(99); }) == ErrorCode::device);
}

}  // namespace winnow
