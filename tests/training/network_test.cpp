// The interpreter against LibTorch's own modules, in float64, values and gradients.
#include "prune/training/network/network.h"

#include <torch/nn.h>

#include "prune/training/network/initialization.h"
#include "prune/training/tensor_bridge.h"
#include "runtime/base/random.h"
#include "runtime/reference/operations.h"
#include "tests/throws.h"
#include "tests/training/graphs.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

const NetworkOptions kDouble = {.type = torch::kDouble};

torch::Tensor random_input(torch::IntArrayRef shape) {
  return torch::randn(shape, torch::TensorOptions().dtype(torch::kDouble));
}

// Gives the parameters and running statistics of `network`, in order, to those of `module`.
void share_values(const Network& network, torch::nn::Module& module) {
  module.to(torch::kDouble);
  const torch::NoGradGuard no_grad;
  auto parameters = module.parameters();
  REQUIRE(parameters.size() == network.parameters().size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    REQUIRE(parameters[i].sizes() == network.parameters()[i].value.sizes());
    parameters[i].copy_(network.parameters()[i].value);
  }
}

void randomize(const Network& network) {
  const torch::NoGradGuard no_grad;
  for (const auto& parameter : network.parameters()) parameter.value.normal_();
}

// Backward from a random direction, the same for both, and every gradient compared.
void check_same_gradients(const Network& network, torch::nn::Module& module,
                          const torch::Tensor& ours, const torch::Tensor& theirs) {
  const torch::Tensor direction = torch::randn_like(ours);
  (ours * direction).sum().backward();
  (theirs * direction).sum().backward();
  const auto parameters = module.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    CAPTURE(network.parameters()[i].name);
    CHECK(torch::allclose(network.parameters()[i].value.grad(), parameters[i].grad(), 1e-9, 1e-9));
  }
}

// Runs one op as a graph and as `module`, in the given mode.
template <typename Module>
void check_against(const Op& op, Module module, const Shape& sample, Mode mode = Mode::training) {
  torch::manual_seed(1);
  const Network network(chain(sample, {{"op", op}}), kDouble);
  randomize(network);
  share_values(network, *module);
  module->train(mode == Mode::training);
  Shape shape = sample;
  shape.insert(shape.begin(), 3);
  torch::Tensor ours_input = random_input(shape).requires_grad_(true);
  torch::Tensor theirs_input = ours_input.detach().clone().requires_grad_(true);
  const torch::Tensor ours = network.forward(ours_input, mode);
  const torch::Tensor theirs = module->forward(theirs_input);
  REQUIRE(ours.sizes() == theirs.sizes());
  CHECK(torch::allclose(ours, theirs, 1e-10, 1e-10));
  check_same_gradients(network, *module, ours, theirs);
  CHECK(torch::allclose(ours_input.grad(), theirs_input.grad(), 1e-9, 1e-9));
}

TEST_CASE("conv2d with stride, padding, dilation and groups equals LibTorch's module") {
  Conv conv{.in_channels = 6, .out_channels = 9, .kernel = {3, 2}, .groups = 3};
  auto options = torch::nn::Conv2dOptions(6, 9, {3, 2}).groups(3);
  SUBCASE("plain") {}
  SUBCASE("every setting, uneven") {
    conv.stride = {2, 1};
    conv.padding = {1, 2};
    conv.dilation = {1, 2};
    options.stride({2, 1}).padding({1, 2});
    options.dilation(torch::ExpandingArray<2>({1, 2}));  // a bare {1, 2} sets 1
  }
  SUBCASE("without bias") {
    conv.has_bias = false;
    options.bias(false);
  }
  check_against(conv, torch::nn::Conv2d(options), {6, 7, 9});
}

TEST_CASE("conv1d uses the second entry of each pair") {
  const Conv conv{.rank = 1,
                  .in_channels = 4,
                  .out_channels = 6,
                  .kernel = {1, 3},
                  .stride = {1, 2},
                  .padding = {0, 2},
                  .dilation = {1, 2},
                  .groups = 2};
  check_against(conv,
                torch::nn::Conv1d(
                    torch::nn::Conv1dOptions(4, 6, 3).stride(2).padding(2).dilation(2).groups(2)),
                {4, 11});
}

TEST_CASE("linear equals LibTorch's module") {
  check_against(Linear{.in_features = 5, .out_features = 4}, torch::nn::Linear(5, 4), {5});
  check_against(Linear{.in_features = 5, .out_features = 4, .has_bias = false},
                torch::nn::Linear(torch::nn::LinearOptions(5, 4).bias(false)), {5});
}

TEST_CASE("batch norm equals LibTorch's module in both modes and tracks the same statistics") {
  torch::manual_seed(2);
  const BatchNorm norm{.channels = 4, .epsilon = 1e-3, .momentum = 0.3};
  const Network network(chain({4, 3, 5}, {{"norm", norm}}), kDouble);
  randomize(network);
  {  // running_var starts at 0 here and at 1 there
    const torch::NoGradGuard no_grad;
    network.statistics()[1].value.fill_(1);
  }
  torch::nn::BatchNorm2d module(torch::nn::BatchNorm2dOptions(4).eps(1e-3).momentum(0.3));
  share_values(network, *module);
  for (int step = 0; step < 3; ++step) {
    const torch::Tensor input = random_input({6, 4, 3, 5}) * 2 + 1;
    const torch::Tensor ours = network.forward(input, Mode::training);
    const torch::Tensor theirs = module->forward(input);
    CHECK(torch::allclose(ours, theirs));
    if (step == 2) check_same_gradients(network, *module, ours, theirs);
  }
  CHECK(torch::allclose(network.statistics()[0].value, module->running_mean));
  CHECK(torch::allclose(network.statistics()[1].value, module->running_var));
  module->eval();
  const torch::Tensor input = random_input({2, 4, 3, 5});
  CHECK(torch::allclose(network.forward(input, Mode::evaluation), module->forward(input)));
  CHECK(torch::allclose(network.statistics()[0].value, module->running_mean));
}

TEST_CASE("pools of both ranks equal LibTorch's modules, sizes rounded down") {
  const Pool pool{.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}};
  check_against(
      pool,
      torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0})),
      {2, 6, 7});
  Pool average = pool;
  average.kind = PoolKind::average;
  check_against(
      average,
      torch::nn::AvgPool2d(torch::nn::AvgPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0})),
      {2, 6, 7});
  const Pool line{.rank = 1, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}};
  check_against(line, torch::nn::MaxPool1d(torch::nn::MaxPool1dOptions(3).stride(2).padding(1)),
                {2, 8});
}

TEST_CASE("pools that round up or leave padding out equal LibTorch's modules") {
  Pool pool{.kernel = {3, 2}, .stride = {2, 2}, .padding = {1, 1}, .rounds_up = true};
  check_against(pool,
                torch::nn::MaxPool2d(
                    torch::nn::MaxPool2dOptions({3, 2}).stride(2).padding(1).ceil_mode(true)),
                {2, 6, 7});
  pool.kind = PoolKind::average;
  pool.counts_padding = false;
  check_against(pool,
                torch::nn::AvgPool2d(torch::nn::AvgPool2dOptions({3, 2})
                                         .stride(2)
                                         .padding(1)
                                         .ceil_mode(true)
                                         .count_include_pad(false)),
                {2, 6, 7});
}

TEST_CASE("pools with any padding give what plain loops give") {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    Pool pool{.kind = random.chance(0.5) ? PoolKind::max : PoolKind::average};
    Pair end;
    for (int axis = 0; axis < 2; ++axis) {
      pool.kernel[axis] = random.between(1, 4);
      pool.stride[axis] = random.between(1, 3);
      pool.padding[axis] = random.between(0, pool.kernel[axis] - 1);
      end[axis] = random.between(0, pool.kernel[axis] - 1);
    }
    pool.rank = random.chance(0.5) ? 1 : 2;
    if (pool.rank == 1) pool.kernel[0] = pool.stride[0] = 1, pool.padding[0] = end[0] = 0;
    if (end != pool.padding) pool.padding_end = end;
    pool.rounds_up = random.chance(0.5);
    pool.counts_padding = pool.kind == PoolKind::max || random.chance(0.5);
    const Shape sample = pool.rank == 1 ? Shape{3, 9} : Shape{3, 6, 9};
    const Network network(chain(sample, {{"pool", pool}}), {});
    Shape shape = sample;
    shape.insert(shape.begin(), 2);
    const torch::Tensor input = torch::randn(shape);
    const float* values = input.const_data_ptr<float>();
    const reference::Array expected =
        reference::pool(pool, {shape, {values, values + input.numel()}});
    const torch::Tensor found = network.forward(input, Mode::evaluation);
    REQUIRE(found.sizes() == torch::IntArrayRef(expected.shape));
    CHECK(torch::allclose(found.flatten(), torch::tensor(expected.values), 1e-5, 1e-6));
  }
}

TEST_CASE("an average over uneven padding passes gradients on by what it counts") {
  const Pool pool{.kind = PoolKind::average,
                  .rank = 1,
                  .kernel = {1, 3},
                  .stride = {1, 2},
                  .padding = {0, 0},
                  .padding_end = Pair{0, 2},
                  .counts_padding = false};
  const Network network(chain({1, 5}, {{"pool", pool}}), kDouble);
  const torch::Tensor input = random_input({1, 1, 5}).requires_grad_(true);
  network.forward(input, Mode::training).sum().backward();
  const double third = 1.0 / 3;  // windows 0 1 2, 2 3 4 and 4
  const torch::Tensor expected =
      torch::tensor({third, third, 2 * third, third, third + 1}, torch::kDouble);
  CHECK(torch::allclose(input.grad().flatten(), expected));
}

TEST_CASE("a relu with an upper bound equals LibTorch's Hardtanh from 0") {
  check_against(Relu{0.5},
                torch::nn::Hardtanh(torch::nn::HardtanhOptions().min_val(0).max_val(0.5)), {40});
  const Network network(chain({3}, {{"relu", Relu{0.5}}}), kDouble);
  const torch::Tensor input = torch::tensor({{-1.0, 0.25, 7.0}}, torch::kDouble);
  CHECK(torch::equal(network.forward(input, Mode::evaluation),
                     torch::tensor({{0.0, 0.25, 0.5}}, torch::kDouble)));
}

TEST_CASE("global pools equal LibTorch's adaptive pools to one position") {
  struct Adaptive : torch::nn::Module {
    bool is_max;
    explicit Adaptive(bool max) : is_max(max) {}
    torch::Tensor forward(const torch::Tensor& x) {
      return (is_max ? torch::nn::functional::adaptive_max_pool2d(
                           x, torch::nn::functional::AdaptiveMaxPool2dFuncOptions(1))
                     : torch::adaptive_avg_pool2d(x, {1, 1}))
          .flatten(1);
    }
  };
  for (const bool is_max : {false, true}) {
    check_against(GlobalPool{is_max ? PoolKind::max : PoolKind::average},
                  std::make_shared<Adaptive>(is_max), {3, 4, 5});
  }
}

TEST_CASE("an embedding gives channels first, ready for conv1d") {
  const Network network(chain({5}, {{"words", Embedding{.rows = 7, .width = 3}}}, true), kDouble);
  randomize(network);
  torch::nn::Embedding module(torch::nn::EmbeddingOptions(7, 3).padding_idx(0));
  share_values(network, *module);
  const torch::Tensor tokens = torch::tensor({{0, 6, 3, 3, 1}, {2, 2, 5, 0, 4}});
  const torch::Tensor ours = network.forward(tokens, Mode::training);
  const torch::Tensor theirs = module->forward(tokens).permute({0, 2, 1});
  REQUIRE(ours.sizes() == torch::IntArrayRef({2, 3, 5}));
  CHECK(torch::equal(ours, theirs));
  check_same_gradients(network, *module, ours, theirs);
}

TEST_CASE("relu, add, concat, flatten and softmax join branches as written") {
  Graph graph = chain({2, 3, 3}, {{"relu", Relu{}}});
  graph.nodes.push_back({"add", Add{}, {"input", "relu", "input"}});
  graph.nodes.push_back({"concat", Concat{}, {"add", "relu"}});
  graph.nodes.push_back({"flatten", Flatten{}, {"concat"}});
  graph.nodes.push_back({"softmax", Softmax{}, {"flatten"}});
  const Network network(graph, kDouble);
  const torch::Tensor x = random_input({2, 2, 3, 3});
  const torch::Tensor flat = torch::cat({2 * x + x.relu(), x.relu()}, 1).flatten(1);
  CHECK(torch::allclose(network.forward(x, Mode::evaluation), torch::softmax(flat, 1)));
  CHECK(torch::allclose(network.logits(x, Mode::evaluation), flat));
}

TEST_CASE("dropout is drawn from the seed in training and absent in evaluation") {
  const Network network(chain({1000}, {{"drop", Dropout{.probability = 0.25}}}), {});
  const torch::Tensor ones = torch::ones({4, 1000});
  CHECK(torch::equal(network.forward(ones, Mode::evaluation), ones));
  torch::manual_seed(5);
  const torch::Tensor first = network.forward(ones, Mode::training);
  const torch::Tensor second = network.forward(ones, Mode::training);
  torch::manual_seed(5);
  CHECK(torch::equal(network.forward(ones, Mode::training), first));
  CHECK_FALSE(torch::equal(first, second));
  const double kept = (first > 0).to(torch::kDouble).mean().item<double>();
  CHECK(kept == doctest::Approx(0.75).epsilon(0.05));
  CHECK(first.max().item<float>() == doctest::Approx(1 / 0.75));
}

torch::nn::Sequential small_module() {
  namespace nn = torch::nn;
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 8, 3).padding(1).bias(false)),
                        nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(8, 12, 3)), nn::ReLU(), nn::Flatten(),
                        nn::Linear(48, 10));
}

TEST_CASE("a small network equals the same network of modules, values and gradients") {
  torch::manual_seed(3);
  auto format = torch::MemoryFormat::Contiguous;
  SUBCASE("row-major") {}
  SUBCASE("channels last") {
    format = torch::MemoryFormat::ChannelsLast;
  }
  Network network(small_network(3, 10), {.type = torch::kDouble, .format = format});
  network.load(initial_model(network.graph(), 7));
  torch::nn::Sequential module = small_module();
  share_values(network, *module);
  const torch::Tensor input = random_input({5, 3, 8, 8});
  const torch::Tensor ours = network.forward(input, Mode::training);
  const torch::Tensor theirs = module->forward(input);
  CHECK(torch::allclose(ours, theirs, 1e-10, 1e-10));
  check_same_gradients(network, *module, ours, theirs);
}

TEST_CASE("hooks see every node in order and replace values") {
  const Network network(chain({3}, {{"a", Relu{}}, {"b", Relu{}}}), {});
  std::vector<std::string> seen;
  const auto hook = [&](const Node& node, const torch::Tensor& value) {
    seen.push_back(node.name);
    return node.name == "a" ? value + 1 : value;
  };
  const torch::Tensor result =
      network.forward(torch::tensor({{-1.0f, 0.0f, 2.0f}}), Mode::evaluation, hook);
  CHECK(seen == std::vector<std::string>{"input", "a", "b"});
  CHECK(torch::equal(result, torch::tensor({{1.0f, 1.0f, 3.0f}})));
}

TEST_CASE("load and store round-trip every tensor and refuse what does not fit") {
  Network network(small_network(3, 10), {.format = torch::MemoryFormat::ChannelsLast});
  Model model = initial_model(network.graph(), 11);
  network.load(model);
  Model stored;
  network.store(stored);
  CHECK((stored.tensors == model.tensors));

  model.tensors["norm1.running_mean"] = Tensor(DataType::f32, {9});
  CHECK(error_of([&] { network.load(model); }) == ErrorCode::bad_file);
  model.tensors.erase("norm1.running_mean");
  CHECK(message_of([&] { network.load(model); }).find("norm1.running_mean") != std::string::npos);
}

TEST_CASE("tensors cross to LibTorch and back unchanged, from any strides") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tensor host = Tensor::from<float>({2, 3}, values);
  const torch::Tensor device = to_torch(host, torch::kCPU);
  CHECK(device[1][0].item<float>() == 4);
  CHECK(to_host(device) == host);
  CHECK(to_host(device.t()).values<float>()[1] == 4);
  CHECK(to_host(torch::ones({2}, torch::kBool)).type() == DataType::boolean);
  CHECK(error_of([] { to_host(torch::zeros({1}, torch::kComplexFloat)); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
