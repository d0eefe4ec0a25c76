#include "prune/training/fused/fused_operations.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <map>

#include "prune/training/network/initialization.h"
#include "prune/training/network/network.h"
#include "runtime/base/random.h"
#include "tests/training/graphs.h"
#include "tests/training/kernels_here.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

torch::Tensor of_channels(const torch::Tensor& values) {
  return values.view({1, -1, 1, 1});
}

// The equations, in LibTorch's words.
class PlainKernels : public FusedKernels {
 public:
  Norm norm(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& bias,
            const torch::Tensor& running_mean, const torch::Tensor& running_var,
            const torch::Tensor& addend, const NormOptions& options) const override {
    ++norms;
    sums += options.has_addend ? 1 : 0;
    relus += options.has_relu ? 1 : 0;
    const torch::Tensor values = input.to(torch::kFloat);
    const torch::Tensor mean = values.mean({0, 2, 3});
    const torch::Tensor variance = (values - of_channels(mean)).square().mean({0, 2, 3});
    const auto count = static_cast<double>(input.numel() / input.size(1));
    running_mean.lerp_(mean, options.momentum);
    running_var.lerp_(variance * (count / (count - 1)), options.momentum);
    const torch::Tensor inverse = (variance + options.epsilon).rsqrt();
    torch::Tensor output =
        (values - of_channels(mean)) * of_channels(inverse * weight) + of_channels(bias);
    output = output.to(input.scalar_type());
    if (options.has_addend) output = output + addend;
    return {options.has_relu ? output.relu() : output, mean, inverse};
  }

  NormGradients norm_backward(const torch::Tensor& gradient, const torch::Tensor& input,
                              const torch::Tensor& weight, const torch::Tensor& bias,
                              const Norm& norm, const NormOptions& options) const override {
    const torch::Tensor standard =
        (input - of_channels(norm.mean)) * of_channels(norm.inverse_deviation);
    torch::Tensor g = gradient;
    if (options.has_relu && options.has_addend) {
      g = g * (norm.output > 0);
    } else if (options.has_relu) {
      g = g * (standard * of_channels(weight) + of_channels(bias) > 0);
    }
    const torch::Tensor by_bias = g.sum({0, 2, 3}), by_weight = (g * standard).sum({0, 2, 3});
    const auto count = static_cast<double>(input.numel() / input.size(1));
    const torch::Tensor by_input =
        of_channels(weight * norm.inverse_deviation) *
        (g - of_channels(by_bias / count) - standard * of_channels(by_weight / count));
    return {by_input, by_weight, by_bias, options.has_addend ? g : torch::Tensor()};
  }

  torch::Tensor evaluated_norm(const torch::Tensor& input, const torch::Tensor& weight,
                               const torch::Tensor& bias, const torch::Tensor& running_mean,
                               const torch::Tensor& running_var, const torch::Tensor& addend,
                               const NormOptions& options) const override {
    ++evaluated;
    torch::Tensor output = torch::batch_norm(input, weight, bias, running_mean, running_var, false,
                                             options.momentum, options.epsilon, false);
    if (options.has_addend) output = output + addend;
    return options.has_relu ? output.relu() : output;
  }

  torch::Tensor pool(const torch::Tensor& input) const override {
    ++pools;
    return torch::max_pool2d(input, {2, 2});
  }
  torch::Tensor pool_backward(const torch::Tensor& gradient,
                              const torch::Tensor& input) const override {
    const auto wide = [](const torch::Tensor& small) {
      return small.repeat_interleave(2, 2).repeat_interleave(2, 3);
    };
    return wide(gradient) * (input == wide(torch::max_pool2d(input, {2, 2})));
  }

  mutable int norms = 0, sums = 0, relus = 0, pools = 0, evaluated = 0;
};

Conv conv(std::int64_t inputs, std::int64_t outputs) {
  return {.in_channels = inputs, .out_channels = outputs, .kernel = {3, 3}, .padding = {1, 1}};
}

// Norms before a ReLU, before a sum, read twice, and of a number of channels that no kernel takes;
// pools of even and odd sizes.
Graph many_norms() {
  Graph graph = chain({3, 12, 12}, {{"conv1", conv(3, 8)},
                                    {"norm1", BatchNorm{.channels = 8}},
                                    {"relu1", Relu{}},
                                    {"pool1", Pool{}},
                                    {"conv2", conv(8, 8)},
                                    {"norm2", BatchNorm{.channels = 8}}});
  graph.nodes.push_back({"sum", Add{}, {"norm2", "pool1"}});
  graph.nodes.push_back({"norm3", BatchNorm{.channels = 8}, {"sum"}});
  graph.nodes.push_back({"relu3", Relu{}, {"norm3"}});
  graph.nodes.push_back({"sum3", Add{}, {"norm3", "relu3"}});
  graph.nodes.push_back({"pool3", Pool{}, {"sum3"}});  // 3 x 3
  graph.nodes.push_back({"conv4", conv(8, 6), {"pool3"}});
  graph.nodes.push_back({"norm4", BatchNorm{.channels = 6}, {"conv4"}});
  graph.nodes.push_back({"relu4", Relu{}, {"norm4"}});
  graph.nodes.push_back({"pool4", Pool{}, {"relu4"}});  // of an odd size
  graph.nodes.push_back({"norm5", BatchNorm{.channels = 6}, {"pool4"}});
  graph.nodes.push_back({"relu5", Relu{.max_value = 6.0f}, {"norm5"}});
  graph.nodes.push_back({"flatten", Flatten{}, {"relu5"}});
  graph.nodes.push_back({"linear", Linear{.in_features = 6, .out_features = 3}, {"flatten"}});
  return graph;
}

// Ends of residual blocks: with a ReLU, of two norms, without a ReLU, of a norm that is summed with
// itself, of three, and with a value that comes later. norm8 and norm10 are read by a convolution
// before the ReLU and the sum.
Graph many_sums() {
  Graph graph = chain({3, 6, 5}, {{"conv1", conv(3, 8)},
                                  {"norm1", BatchNorm{.channels = 8}},
                                  {"relu1", Relu{}},
                                  {"conv2", conv(8, 8)},
                                  {"norm2", BatchNorm{.channels = 8}}});
  const auto add = [&](std::string name, Op op, std::vector<std::string> inputs) {
    graph.nodes.push_back({std::move(name), std::move(op), std::move(inputs)});
  };
  add("sum2", Add{}, {"norm2", "relu1"});
  add("relu2", Relu{}, {"sum2"});
  add("norm3a", BatchNorm{.channels = 8}, {"relu2"});
  add("conv3", conv(8, 8), {"relu2"});
  add("norm3b", BatchNorm{.channels = 8}, {"conv3"});
  add("sum3", Add{}, {"norm3a", "norm3b"});
  add("relu3", Relu{}, {"sum3"});
  add("norm4", BatchNorm{.channels = 8}, {"relu3"});
  add("sum4", Add{}, {"relu3", "norm4"});
  add("norm5", BatchNorm{.channels = 8}, {"sum4"});
  add("sum5", Add{}, {"norm5", "norm5"});
  add("norm6", BatchNorm{.channels = 8}, {"sum5"});
  add("relu6", Relu{}, {"sum5"});
  add("sum6", Add{}, {"norm6", "sum5", "relu6"});
  add("norm7", BatchNorm{.channels = 8}, {"sum6"});
  add("conv7", conv(8, 8), {"sum6"});
  add("sum7", Add{}, {"norm7", "conv7"});
  add("relu7", Relu{.max_value = 6.0f}, {"sum7"});
  add("norm8", BatchNorm{.channels = 8}, {"relu7"});
  add("conv8", conv(8, 8), {"norm8"});
  add("relu8", Relu{}, {"norm8"});
  add("norm9", BatchNorm{.channels = 8}, {"relu8"});
  add("sum9", Add{}, {"norm9", "conv8"});
  add("norm10", BatchNorm{.channels = 8}, {"sum9"});
  add("conv10", conv(8, 8), {"norm10"});
  add("sum10", Add{}, {"sum9", "norm10"});
  add("sum11", Add{}, {"sum10", "conv10"});
  add("flatten", Flatten{}, {"sum11"});
  add("linear", Linear{.in_features = 240, .out_features = 3}, {"flatten"});
  return graph;
}

// The nodes that are computed with each norm.
std::map<std::string, std::string> tails_by_name(const Graph& graph) {
  const std::vector<NormTail> tails = tails_of_norms(graph);
  std::map<std::string, std::string> found;
  for (std::size_t i = 0; i < tails.size(); ++i) {
    const NormTail& tail = tails[i];
    std::string& text = found[graph.nodes[i].name];
    if (tail.add > 0) text = graph.nodes[tail.add].name + " with " + graph.nodes[tail.addend].name;
    if (tail.relu > 0) text += (tail.add > 0 ? ", " : "") + graph.nodes[tail.relu].name;
    if (text.empty()) found.erase(graph.nodes[i].name);
  }
  return found;
}

TEST_CASE("a norm is fused with the sum of two and the ReLU that alone read it") {
  CHECK(tails_by_name(many_norms()) ==
        std::map<std::string, std::string>{
            {"norm1", "relu1"}, {"norm2", "sum with pool1"}, {"norm4", "relu4"}});
  CHECK(tails_by_name(many_sums()) == std::map<std::string, std::string>{
                                          {"norm1", "relu1"},
                                          {"norm2", "sum2 with relu1, relu2"},
                                          {"norm3b", "sum3 with norm3a, relu3"},
                                          {"norm4", "sum4 with relu3"},
                                          {"norm9", "sum9 with conv8"},
                                      });
}

struct Step {
  torch::Tensor logits;
  std::map<std::string, torch::Tensor> gradients, statistics;
};

Step step_of(const Model& model, const torch::Tensor& input, const NetworkOptions& options) {
  Network network(model.graph, options);
  network.load(model);
  Step step;
  step.logits = network.logits(input.to(options.device), Mode::training);
  const auto count = step.logits.numel();
  const torch::Tensor weights =
      torch::arange(1, count + 1, step.logits.options()).view(step.logits.sizes()).sin();
  (step.logits * weights).sum().backward();
  for (const NamedTensor& one : network.parameters()) step.gradients[one.name] = one.value.grad();
  for (const NamedTensor& one : network.statistics()) step.statistics[one.name] = one.value;
  return step;
}

double largest(const torch::Tensor& values) {
  return values.abs().max().item<double>();
}

void check_close(const torch::Tensor& found, const torch::Tensor& expected, double tolerance,
                 double least_size = 0.1) {
  const double error = largest(found.to(torch::kCPU) - expected.to(torch::kCPU));
  CHECK(error <= tolerance * (largest(expected) + least_size));
}

void check_same_step(const Step& found, const Step& expected, double tolerance) {
  check_close(found.logits, expected.logits, tolerance);
  // Gradients of what a later norm takes out again are 0 but for the rounding of others.
  double size = 0.0;
  for (const auto& [name, gradient] : expected.gradients) size = std::max(size, largest(gradient));
  for (const auto& [name, gradient] : expected.gradients) {
    CAPTURE(name);
    check_close(found.gradients.at(name), gradient, tolerance, std::max(0.1, 0.02 * size));
  }
  for (const auto& [name, statistic] : expected.statistics) {
    CAPTURE(name);
    check_close(found.statistics.at(name), statistic, tolerance);
  }
}

torch::Tensor noise(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  torch::Tensor values = torch::empty(shape);
  float* data = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    data[i] = static_cast<float>(2.0 * random.uniform() - 1.0);
  }
  return values;
}

// A step with the kernels against one without.
void check_plain_step(const Model& model, const torch::Tensor& input, const PlainKernels& kernels) {
  NetworkOptions options = {.format = torch::MemoryFormat::ChannelsLast};
  const Step expected = step_of(model, input, options);
  options.fused = &kernels;
  check_same_step(step_of(model, input, options), expected, 5e-5);
}

TEST_CASE("a step with fused operations has the values, gradients and statistics of one without") {
  const Model model = initial_model(many_norms(), 7);
  const torch::Tensor input = noise({5, 3, 12, 12}, 1);
  const PlainKernels kernels;
  check_plain_step(model, input, kernels);
  CHECK(kernels.norms == 3);  // norm4 and norm5 have 6 channels
  CHECK(kernels.sums == 1);
  CHECK(kernels.relus == 1);
  CHECK(kernels.pools == 2);

  NetworkOptions options = {.format = torch::MemoryFormat::ChannelsLast, .fused = &kernels};
  Network network(model.graph, options);
  network.load(model);
  network.forward(input, Mode::evaluation);
  network.forward(input, Mode::training, [](const Node&, const torch::Tensor& x) { return x; });
  options.format = torch::MemoryFormat::Contiguous;
  step_of(model, input, options);
  CHECK(kernels.norms == 3);
  CHECK(kernels.evaluated == 0);
}

TEST_CASE("an evaluation with gradients, or with a hook, is not fused") {
  const PlainKernels kernels;
  Network network(many_norms(), {.format = torch::MemoryFormat::ChannelsLast, .fused = &kernels});
  network.load(initial_model(many_norms(), 7));
  const torch::Tensor input = noise({5, 3, 12, 12}, 1);
  CHECK(network.forward(input, Mode::evaluation).requires_grad());
  const torch::NoGradGuard no_grad;
  network.forward(input, Mode::evaluation, [](const Node&, const torch::Tensor& x) { return x; });
  CHECK(kernels.evaluated == 0);
  CHECK(kernels.pools == 0);
}

// Logits in evaluation, with running statistics that are made up.
torch::Tensor evaluated(const Model& model, const torch::Tensor& input,
                        const NetworkOptions& options) {
  const torch::NoGradGuard no_grad;
  Network network(model.graph, options);
  network.load(model);
  for (const NamedTensor& one : network.statistics()) {
    const bool is_mean = one.name.ends_with("running_mean");
    one.value.fill_(is_mean ? 0.3 : 0.7).add_(torch::arange(one.value.numel()).to(one.value) / 40);
  }
  return network.logits(input.to(options.device), Mode::evaluation);
}

TEST_CASE("an evaluation without gradients has the values of one without fused operations") {
  const PlainKernels kernels;
  int norms = 0;
  for (const Graph& graph : {many_norms(), many_sums()}) {
    const Model model = initial_model(graph, 7);
    const Shape& image = std::get<Input>(graph.nodes[0].op).shape;
    const torch::Tensor input = noise({5, image[0], image[1], image[2]}, 1);
    NetworkOptions options = {.format = torch::MemoryFormat::ChannelsLast};
    const torch::Tensor expected = evaluated(model, input, options);
    options.fused = &kernels;
    check_close(evaluated(model, input, options), expected, 1e-5);
    norms += static_cast<int>(std::ranges::count_if(graph.nodes, [](const Node& node) {
      const auto* norm = std::get_if<BatchNorm>(&node.op);
      return norm && norm->channels == 8;
    }));
  }
  CHECK(kernels.evaluated == norms);
  CHECK(kernels.norms == 0);
  CHECK(kernels.pools == 2);
}

TEST_CASE("a step with sums behind norms has the values and gradients of one without") {
  const PlainKernels kernels;
  check_plain_step(initial_model(many_sums(), 8), noise({5, 3, 6, 5}, 2), kernels);
  CHECK(kernels.norms == 11);
  CHECK(kernels.sums == 4);
  CHECK(kernels.relus == 3);
}

TEST_CASE("a norm's kernels add what is like its input alone") {
  const auto last = torch::MemoryFormat::ChannelsLast;
  const torch::Tensor images = noise({2, 8, 3, 3}, 1).contiguous(last);
  CHECK(is_addend(images.clone(last), images));
  CHECK_FALSE(is_addend({}, images));
  CHECK_FALSE(is_addend(images.to(torch::kBFloat16), images));
  CHECK_FALSE(is_addend(images.contiguous(), images));
  CHECK_FALSE(is_addend(images.narrow(0, 0, 1), images));
}

// The network's input is f32, what a convolution gives of it bf16.
TEST_CASE("a sum of another type than the norm before it is computed on its own") {
  Graph graph = chain({8, 4, 4}, {{"conv", conv(8, 8)}, {"norm", BatchNorm{.channels = 8}}});
  const std::string image = graph.nodes[0].name;
  graph.nodes.push_back({"sum", Add{}, {"norm", image}});
  graph.nodes.push_back({"relu", Relu{}, {"sum"}});
  graph.nodes.push_back({"flatten", Flatten{}, {"relu"}});
  graph.nodes.push_back({"linear", Linear{.in_features = 128, .out_features = 3}, {"flatten"}});
  REQUIRE(tails_by_name(graph) ==
          std::map<std::string, std::string>{{"norm", "sum with " + image + ", relu"}});
  const Model model = initial_model(graph, 3);
  const torch::Tensor input = noise({6, 8, 4, 4}, 5);
  const PlainKernels kernels;
  NetworkOptions options = {.format = torch::MemoryFormat::ChannelsLast};
  const auto logits = [&] {
    const torch::NoGradGuard no_grad;
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    Network network(model.graph, options);
    network.load(model);
    const torch::Tensor found = network.logits(input, Mode::training).to(torch::kFloat);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    return found;
  };
  const torch::Tensor expected = logits();
  options.fused = &kernels;
  check_close(logits(), expected, 3e-2);
  CHECK(kernels.norms == 1);
  CHECK(kernels.sums == 0);
  CHECK(kernels.relus == 0);
}

// Images [N, C, H, W] in channels-last layout on the GPU, far from a mean of 0.
torch::Tensor images(const Shape& shape, torch::ScalarType type, std::uint64_t seed) {
  return (3.0 * noise(shape, seed) + 2.0)
      .to(torch::kCUDA)
      .to(type)
      .contiguous(torch::MemoryFormat::ChannelsLast);
}

struct KernelCase {
  Shape shape;
  torch::ScalarType type;
  bool has_relu;
  std::uint64_t seed;
};

// Each shape in both types, with a ReLU and without. Then shapes whose channels kernels take in f32
// alone, and whose last block of channels has fewer.
std::vector<KernelCase> kernel_cases(const std::vector<Shape>& shapes, std::uint64_t seed) {
  std::vector<KernelCase> all;
  const auto add = [&](const Shape& shape, torch::ScalarType type, bool has_relu) {
    all.push_back({shape, type, has_relu, ++seed});
  };
  for (const Shape& shape : shapes) {
    for (const bool has_relu : {false, true}) {
      for (const auto type : {torch::kFloat, torch::kBFloat16}) add(shape, type, has_relu);
    }
  }
  for (const Shape& shape :
       std::vector<Shape>{{3, 4, 5, 5}, {64, 12, 16, 16}, {5, 20, 3, 3}, {40, 36, 9, 9}}) {
    for (const bool has_relu : {false, true}) add(shape, torch::kFloat, has_relu);
  }
  return all;
}

struct NormCase {
  torch::Tensor input, gradient, weight, bias, mean, var;
};

NormCase norm_case(const Shape& shape, torch::ScalarType type, std::uint64_t seed) {
  const auto channel = [&](std::uint64_t stream) {
    return noise({shape[1]}, seed + stream).to(torch::kCUDA);
  };
  return {
      images(shape, type, seed), images(shape, type, seed + 1), channel(2), channel(3), channel(4),
      channel(5).abs()};
}

// In double precision, by LibTorch.
struct Expected {
  torch::Tensor output, input, weight, bias, mean, var;
};

Expected by_torch(const NormCase& one, const NormOptions& options) {
  const auto wide = [](const torch::Tensor& t) { return t.to(torch::kDouble).detach(); };
  const torch::Tensor input = wide(one.input).requires_grad_(true);
  const torch::Tensor weight = wide(one.weight).requires_grad_(true);
  const torch::Tensor bias = wide(one.bias).requires_grad_(true);
  const torch::Tensor mean = wide(one.mean).clone(), var = wide(one.var).clone();
  torch::Tensor output = torch::batch_norm(input, weight, bias, mean, var, true, options.momentum,
                                           options.epsilon, false);
  if (options.has_relu) output = output.relu();
  output.backward(wide(one.gradient));
  return {output.detach(), input.grad(), weight.grad(), bias.grad(), mean, var};
}

void check_norm(const FusedKernels& kernels, const KernelCase& wanted) {
  const auto& [shape, type, has_relu, seed] = wanted;
  CAPTURE(shape);
  CAPTURE(has_relu);
  const NormOptions options = {.momentum = 0.2, .epsilon = 1e-4, .has_relu = has_relu};
  const NormCase one = norm_case(shape, type, seed);
  const Expected expected = by_torch(one, options);
  const FusedKernels::Norm norm =
      kernels.norm(one.input, one.weight, one.bias, one.mean, one.var, {}, options);
  const auto gradients =
      kernels.norm_backward(one.gradient, one.input, one.weight, one.bias, norm, options);
  const double rounding = type == torch::kFloat ? 2e-5 : 8e-3;  // of what is stored
  check_close(norm.output, expected.output, rounding);
  // Two values a channel lie at -1 and 1: their gradient is a small rest of large terms.
  check_close(gradients.input, expected.input, 3 * rounding);
  check_close(gradients.weight, expected.weight, 2e-4);
  check_close(gradients.bias, expected.bias, 2e-4);
  check_close(one.mean, expected.mean, 1e-5);
  check_close(one.var, expected.var, 1e-5);
}

TEST_CASE("batch norm on a GPU agrees with LibTorch in double precision") {
  const FusedKernels* kernels = kernels_here(fused_kernels);
  if (!kernels) return;
  std::vector<Shape> shapes = {{2, 8, 1, 1},    {3, 64, 7, 5},    {256, 64, 32, 32},
                               {9, 2048, 7, 7}, {4, 2208, 3, 3},  {128, 512, 2, 2},
                               {1, 136, 11, 3}, {64, 4096, 1, 2}, {300, 8, 1, 1}};
  Random random(5);
  for (int i = 0; i < 12; ++i) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
    shapes.push_back({1 + below(40), 8 * (1 + below(80)), 2 + below(9), 1 + below(9)});
  }
  for (const KernelCase& one : kernel_cases(shapes, 10)) check_norm(*kernels, one);
}

void check_evaluated_norm(const FusedKernels& kernels, const KernelCase& wanted, bool has_addend) {
  const auto& [shape, type, has_relu, seed] = wanted;
  CAPTURE(shape);
  CAPTURE(has_addend);
  CAPTURE(has_relu);
  const NormOptions options = {.epsilon = 1e-3, .has_addend = has_addend, .has_relu = has_relu};
  const NormCase one = norm_case(shape, type, seed);
  const torch::Tensor addend = options.has_addend ? images(shape, type, seed + 7) : torch::Tensor();
  const torch::Tensor mean = one.mean.clone(), var = one.var.clone();
  const auto wide = [](const torch::Tensor& t) { return t.to(torch::kDouble); };
  torch::Tensor expected =
      torch::batch_norm(wide(one.input), wide(one.weight), wide(one.bias), wide(mean), wide(var),
                        false, options.momentum, options.epsilon, false);
  if (options.has_addend) expected = expected + wide(addend);
  if (options.has_relu) expected = expected.relu();
  const torch::Tensor found =
      kernels.evaluated_norm(one.input, one.weight, one.bias, one.mean, one.var, addend, options);
  CHECK(found.is_contiguous(torch::MemoryFormat::ChannelsLast));
  check_close(found, expected, type == torch::kFloat ? 2e-5 : 1.6e-2);  // bf16 is rounded twice
  CHECK(torch::equal(one.mean, mean));
  CHECK(torch::equal(one.var, var));
}

TEST_CASE("a norm in evaluation on a GPU agrees with LibTorch in double precision") {
  const FusedKernels* kernels = kernels_here(fused_kernels);
  if (!kernels) return;
  const std::vector<Shape> shapes = {
      {2, 8, 1, 1}, {512, 64, 32, 32}, {9, 2048, 7, 7}, {4, 136, 3, 5}, {1, 4096, 1, 1}};
  for (const KernelCase& one : kernel_cases(shapes, 900)) {
    for (const bool has_addend : {false, true}) check_evaluated_norm(*kernels, one, has_addend);
  }
}

// A norm with what lies behind it against the same norm with LibTorch's operations behind it.
void check_sum(const FusedKernels& kernels, const KernelCase& wanted) {
  const auto& [shape, type, has_relu, seed] = wanted;
  CAPTURE(shape);
  CAPTURE(has_relu);
  const NormCase one = norm_case(shape, type, seed);
  torch::Tensor addend = images(shape, type, seed + 7) * 3.0 - 6.0;
  addend[0][1][0][0] = std::nan("");
  const torch::Tensor mean = one.mean.clone(), var = one.var.clone();
  const auto alone = kernels.norm(one.input, one.weight, one.bias, mean, var, {}, {});
  const NormOptions options = {.has_addend = true, .has_relu = has_relu};
  const auto found =
      kernels.norm(one.input, one.weight, one.bias, one.mean, one.var, addend, options);
  const torch::Tensor sum = alone.output + addend;
  CHECK(torch::allclose(found.output, has_relu ? sum.relu() : sum, 0.0, 0.0, true));
  CHECK(torch::equal(one.mean, mean));
  CHECK(torch::equal(one.var, var));

  const torch::Tensor masked = torch::where(sum <= 0, torch::zeros_like(sum), one.gradient);
  const torch::Tensor gradient = has_relu ? masked : one.gradient;
  const auto expected = kernels.norm_backward(gradient, one.input, one.weight, one.bias, alone, {});
  const auto gradients =
      kernels.norm_backward(one.gradient, one.input, one.weight, one.bias, found, options);
  CHECK(torch::equal(gradients.addend, gradient));
  CHECK(torch::equal(gradients.input, expected.input));
  CHECK(torch::equal(gradients.weight, expected.weight));
  CHECK(torch::equal(gradients.bias, expected.bias));
}

TEST_CASE("a norm with a sum behind it has the bits of both on a GPU") {
  const FusedKernels* kernels = kernels_here(fused_kernels);
  if (!kernels) return;
  const std::vector<Shape> shapes = {
      {2, 8, 1, 1}, {256, 256, 32, 32}, {9, 2048, 7, 7}, {4, 136, 3, 5}};
  for (const KernelCase& one : kernel_cases(shapes, 400)) check_sum(*kernels, one);
}

TEST_CASE("max pools on a GPU are LibTorch's, in value and gradient, ties and no numbers too") {
  const FusedKernels* kernels = kernels_here(fused_kernels);
  if (!kernels) return;
  std::uint64_t seed = 70;
  for (const Shape& shape : std::vector<Shape>{
           {2, 8, 2, 2}, {3, 64, 8, 6}, {256, 64, 32, 32}, {5, 24, 2, 14}, {1, 2048, 4, 4}}) {
    for (const auto type : {torch::kFloat, torch::kBFloat16}) {
      torch::Tensor input = (images(shape, type, ++seed) * 2.0).round();  // many are equal
      input[0][1][0][1] = std::nan("");
      const torch::Tensor leaf = input.detach().clone(torch::MemoryFormat::ChannelsLast);
      leaf.requires_grad_(true);
      const torch::Tensor expected = torch::max_pool2d(leaf, {2, 2});
      const torch::Tensor found = kernels->pool(input);
      CHECK(torch::allclose(found, expected, 0.0, 0.0, true));
      const torch::Tensor gradient =
          images({shape[0], shape[1], shape[2] / 2, shape[3] / 2}, type, ++seed);
      expected.backward(gradient);
      CHECK(torch::equal(kernels->pool_backward(gradient, input), leaf.grad()));
    }
  }
}

TEST_CASE("a step on a GPU with kernels of our own is one without, up to rounding") {
  const FusedKernels* kernels = kernels_here(fused_kernels);
  if (!kernels) return;
  at::globalContext().setDeterministicCuDNN(true);
  for (const Graph& graph : {many_norms(), many_sums()}) {
    const Model model = initial_model(graph, 7);
    const Shape& image = std::get<Input>(graph.nodes[0].op).shape;
    const torch::Tensor input = noise({37, image[0], image[1], image[2]}, 1);
    NetworkOptions options = {.device = torch::kCUDA, .format = torch::MemoryFormat::ChannelsLast};
    const Step expected = step_of(model, input, options);
    options.fused = kernels;
    const Step found = step_of(model, input, options);
    check_same_step(found, expected, 2e-3);  // convolutions in TF32 or not
    check_same_step(step_of(model, input, options), found, 0.0);
    const torch::Tensor value = evaluated(model, input, options);
    options.fused = nullptr;
    check_close(value, evaluated(model, input, options), 2e-3);
  }
}

}  // namespace
}  // namespace winnow
