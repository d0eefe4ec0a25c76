#include "prune/training/fused/cast_kernels.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>

#include <cmath>

#include "prune/training/device.h"
#include "prune/training/network/initialization.h"
#include "prune/training/network/network.h"
#include "runtime/base/random.h"
#include "tests/training/graphs.h"
#include "tests/training/kernels_here.h"
#include "tests/training/same_bits.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

class PlainCastKernels : public CastKernels {
 public:
  void cast(std::span<const torch::Tensor> from, std::span<const torch::Tensor> to) const override {
    ++casts;
    for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
    last = to[0].const_data_ptr();
  }

  mutable int casts = 0;
  mutable const void* last = nullptr;
};

class Autocast {
 public:
  explicit Autocast(torch::DeviceType device) : device_(device) {
    at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(device_, true);
  }
  ~Autocast() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, false);
  }

 private:
  torch::DeviceType device_;
};

bool has_bits_of(const torch::Tensor& one, const torch::Tensor& other) {
  return one.strides() == other.strides() && has_same_bits(one, other);
}

// Gradients of all parameters after a step of training in bf16, and the logits.
Tensors step_of(const Network& network, const torch::Tensor& input) {
  torch::Tensor logits;
  {
    const Autocast autocast(network.options().device.type());
    logits = network.logits(input, Mode::training).to(torch::kFloat);
  }
  torch::log_softmax(logits, 1).select(1, 0).mean().neg().backward();
  Tensors all = {logits};
  for (const NamedTensor& parameter : network.parameters()) {
    all.push_back(parameter.value.grad());
    parameter.value.mutable_grad() = torch::Tensor();
  }
  return all;
}

void check_steps(const CastKernels& kernels, const torch::Device& device) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(2);
  const Model model = initial_model(small_network(3, 5), 7);
  const torch::Tensor input = torch::randn({37, 3, 8, 8}, generator).to(device);
  for (const auto format : {torch::MemoryFormat::ChannelsLast, torch::MemoryFormat::Contiguous}) {
    NetworkOptions options = {.device = device, .format = format};
    Network expected(model.graph, options);
    options.casts = &kernels;
    Network found(model.graph, options);
    expected.load(model);
    found.load(model);
    for (int step = 0; step < 2; ++step) {
      const Tensors ours = step_of(found, input), theirs = step_of(expected, input);
      for (std::size_t i = 0; i < ours.size(); ++i) CHECK(has_bits_of(ours[i], theirs[i]));
    }
  }
}

TEST_CASE("a step with weights cast at once has the bits of one under autocast alone") {
  const PlainCastKernels kernels;
  check_steps(kernels, torch::kCPU);
  CHECK(kernels.casts == 8);
}

TEST_CASE("weights are cast at once in training under autocast, and nowhere else") {
  const PlainCastKernels kernels;
  const Model model = initial_model(small_network(3, 5), 7);
  const Network network(model.graph, {.casts = &kernels});
  const torch::Tensor input = torch::ones({2, 3, 8, 8});
  network.logits(input, Mode::training);
  CHECK(!casts_to_bf16(torch::kCPU));
  const Autocast autocast(torch::kCPU);
  CHECK(casts_to_bf16(torch::kCPU));
  network.logits(input, Mode::evaluation);
  CHECK(kernels.casts == 0);
  const torch::NoGradGuard no_grad;
  network.logits(input, Mode::training);
  CHECK(kernels.casts == 1);
}

TEST_CASE("a weight that is used twice gets both gradients, one without use none") {
  const PlainCastKernels kernels;
  const Tensors weights = {torch::full({3}, 1.5f).requires_grad_(true),
                           torch::ones({2}).requires_grad_(true)};
  const Tensors copies = cast_weights(weights, kernels);
  CHECK((copies[0].scalar_type() == torch::kBFloat16));
  (copies[0] * 2 + copies[0] * copies[0]).sum().backward();
  CHECK(torch::equal(weights[0].grad(), torch::full({3}, 5.0f)));
  CHECK(weights[0].grad().const_data_ptr() == kernels.last);  // handed over, not copied again
  CHECK(!weights[1].grad().defined());
}

// Ragged, and some that start at no multiple of 16 bytes.
Tensors random_tensors(Random& random, at::Generator& generator, int count,
                       const torch::Device& device) {
  Tensors all;
  for (int i = 0; i < count; ++i) {
    const auto size = static_cast<std::int64_t>(random.below(i % 3 == 0 ? 40 : 20000));
    const auto first = static_cast<std::int64_t>(random.below(3));
    torch::Tensor tensor =
        torch::randn({first + size}, generator).to(device).narrow(0, first, size);
    if (size > 4) {
      tensor.narrow(0, 0, 4).copy_(torch::tensor({NAN, -INFINITY, -0.0f, 3.4e38f}));
    }
    all.push_back(tensor);
  }
  return all;
}

TEST_CASE("the kernels of casts have LibTorch's bits, both ways, for many tensors") {
  const torch::Device device = resolve_device("auto");
  const CastKernels* kernels = kernels_here(cast_kernels);
  if (!kernels) return;
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(4);
  Random random(4);
  for (const int count : {1, 5, 300}) {
    const Tensors values = random_tensors(random, generator, count, device);
    Tensors copies, back;
    for (const torch::Tensor& value : values) {
      copies.push_back(torch::empty_like(value, torch::kBFloat16));
      back.push_back(torch::empty_like(value));
    }
    kernels->cast(values, copies);
    kernels->cast(copies, back);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const torch::Tensor expected = values[i].to(torch::kBFloat16);
      CHECK(torch::equal(copies[i].view(torch::kShort), expected.view(torch::kShort)));
      CHECK(has_bits_of(back[i], expected.to(torch::kFloat)));
    }
  }
}

TEST_CASE("a step on a GPU with weights cast at once has the bits of one under autocast alone") {
  const torch::Device device = resolve_device("auto");
  const CastKernels* kernels = kernels_here(cast_kernels);
  if (!kernels) return;
  at::globalContext().setDeterministicCuDNN(true);
  check_steps(*kernels, device);
}

}  // namespace
}  // namespace winnow
