#include "prune/training/steps/sgd_kernels.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/version.h>

#include <cmath>

#include "prune/training/device.h"
#include "prune/training/network/initialization.h"
#include "prune/training/steps/sgd.h"
#include "prune/training/tensor_layout.h"
#include "prune/training/torch_trainee.h"
#include "prune/training/trainability.h"
#include "runtime/base/random.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/kernels_here.h"
#include "tests/training/same_bits.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

// LibTorch's fused SGD of one parameter after the other.
class PlainSgdKernels : public SgdKernels {
 public:
  void step(std::span<const SgdTensors> all, const SgdOptions& options,
            const torch::Tensor& rate) const override {
    ++steps;
    for (const SgdTensors& one : all) {
      CHECK(has_layout_of(one.gradient, one.weight));
      if (one.gradient_sum.defined()) one.gradient_sum.add_(one.gradient);
      torch::_fused_sgd_({one.weight}, {one.gradient}, {one.momentum},
                         one.is_decayed ? options.weight_decay : 0.0, options.momentum, rate, 0.0,
                         options.is_nesterov, false, false);
      if (!one.factor.defined()) continue;
      one.weight.mul_(one.factor);
      one.momentum.mul_(one.factor);
    }
  }

  mutable int steps = 0;
};

// Without LibTorch's own seeds: setting them asks for GPUs, which this program must not do before
// LibTorch's CUDA half is open.
torch::Tensor normal(const Shape& shape, at::Generator& generator, const torch::Device& device) {
  return torch::randn(shape, generator).to(device);
}

// Parameters of one or of two optimizers that shall agree.
struct Parameters {
  Tensors weights, factors, gradient_sums;
  std::vector<bool> is_decayed;

  Tensors copies() const {
    Tensors all;
    for (const auto& weight : weights) all.push_back(weight.detach().clone().requires_grad_(true));
    return all;
  }
  Tensors copied_sums() const {
    Tensors all;
    for (const auto& sum : gradient_sums) all.push_back(sum.defined() ? sum.clone() : sum);
    return all;
  }
};

Shape random_shape(Random& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
  if (random.below(3) == 0) return {1 + below(9000)};
  if (random.below(2) == 0) return {1 + below(90), 1 + below(200)};
  return {1 + below(40), 1 + below(40), 1 + below(4), 1 + below(4)};
}

// Half of the filters lie in channels-last layout, half of all have a factor of zeros and ones, and
// half a sum of gradients.
Parameters random_parameters(Random& random, int count, at::Generator& generator,
                             const torch::Device& device) {
  Parameters all;
  for (int i = 0; i < count; ++i) {
    torch::Tensor weight = normal(random_shape(random), generator, device);
    if (weight.dim() == 4 && random.below(2) == 0) {
      weight = weight.contiguous(torch::MemoryFormat::ChannelsLast);
    }
    const torch::Tensor draw =
        torch::zeros_like(weight).copy_(normal(weight.sizes().vec(), generator, device));
    const bool has_factor = random.below(2) == 0;
    all.factors.push_back(has_factor ? (draw > 0).to(torch::kFloat) : torch::Tensor());
    all.gradient_sums.push_back(random.below(2) == 0 ? draw : torch::Tensor());
    all.weights.push_back(weight.requires_grad_(true));
    all.is_decayed.push_back(random.below(2) == 0);
  }
  return all;
}

// The same random numbers to both; those of `ours` lie as contiguous tensors do, whatever the
// weights' layout, unless norms are taken, which add up in the order of memory.
void give_gradients(Tensors& ours, Tensors& theirs, bool has_norm, at::Generator& generator) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const torch::Tensor gradient = normal(ours[i].sizes().vec(), generator, ours[i].device());
    theirs[i].mutable_grad() = torch::zeros_like(theirs[i]).detach().copy_(gradient);
    ours[i].mutable_grad() = has_norm ? theirs[i].grad().clone() : gradient;
  }
}

// LibTorch's fused SGD computes in fp32 since then, as ours does; before it did in double.
constexpr bool kHasOurArithmetic = TORCH_VERSION_MAJOR > 2 ||
                                   (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 11);

bool agree(const torch::Tensor& one, const torch::Tensor& other) {
  if (!one.defined() || !other.defined()) return one.defined() == other.defined();
  if (!kHasOurArithmetic) return torch::allclose(one, other, 1e-5, 1e-6, /*equal_nan=*/true);
  return has_same_bits(one, other);
}

void check_steps(const SgdKernels& kernels, int count, const SgdOptions& options, bool has_masking,
                 const torch::Device& device) {
  CAPTURE(count);
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(count);
  Random random(static_cast<std::uint64_t>(count));
  const Parameters parameters = random_parameters(random, count, generator, device);
  Tensors ours = parameters.copies(), theirs = parameters.copies();
  Sgd found(ours, parameters.is_decayed, options, &kernels);
  Sgd expected(theirs, parameters.is_decayed, options);
  const Tensors our_sums = parameters.copied_sums(), their_sums = parameters.copied_sums();
  const auto masking = [&](const Tensors& sums) {
    return has_masking ? SgdMasking{.factors = parameters.factors, .gradient_sums = sums}
                       : SgdMasking{};
  };
  torch::Tensor rate = torch::zeros({}, device);
  for (int step = 0; step < 4; ++step) {
    rate.fill_(0.1 / (step + 1));
    give_gradients(ours, theirs, options.clip_norm > 0, generator);
    found.step(rate, masking(our_sums));
    expected.step(rate, masking(their_sums));
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i);
    CHECK(agree(our_sums[i], their_sums[i]));
    CHECK(agree(ours[i], theirs[i]));
    CHECK(agree(found.momenta()[i], expected.momenta()[i]));
    CHECK(!ours[i].grad().defined());
  }
}

// Counts below and above what a launch takes at once.
void check_all_steps(const SgdKernels& kernels, const torch::Device& device) {
  for (const int count : {1, 7, 200}) {
    for (const bool has_masking : {false, true}) {
      check_steps(kernels, count, {}, has_masking, device);
      check_steps(kernels, count, {.is_nesterov = false}, has_masking, device);
      check_steps(kernels, count, {.momentum = 0.7, .weight_decay = 0}, has_masking, device);
      check_steps(kernels, count, {.clip_norm = 2}, has_masking, device);
    }
  }
}

TEST_CASE("kernels get gradients in the weights' layout, and steps are those of LibTorch") {
  const PlainSgdKernels kernels;
  check_all_steps(kernels, torch::kCPU);
  CHECK(kernels.steps == 4 * 24);
}

TEST_CASE("steps without momentum, and of other types than f32, are LibTorch's") {
  const PlainSgdKernels kernels;
  check_steps(kernels, 5, {.momentum = 0}, true, torch::kCPU);
  torch::Tensor wide = torch::ones({2}, torch::kDouble).requires_grad_(true);
  Sgd sgd({wide}, {false}, {}, &kernels);
  wide.mutable_grad() = torch::ones({2}, torch::kDouble);
  sgd.step(torch::full({}, 0.5));
  CHECK(wide[0].item<double>() == doctest::Approx(1 - 0.5 * 1.9));
  CHECK(kernels.steps == 0);
}

TEST_CASE("the kernel of SGD has the bits of LibTorch's, with masks behind it") {
  const torch::Device device = resolve_device("auto");
  const SgdKernels* kernels = kernels_here(sgd_kernels);
  if (kernels) check_all_steps(*kernels, device);
}

TEST_CASE("the kernel of SGD takes tensors that start anywhere, and no numbers as they are") {
  const torch::Device device = resolve_device("auto");
  const SgdKernels* kernels = kernels_here(sgd_kernels);
  if (!kernels) return;
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(3);
  const torch::Tensor all = normal({40000}, generator, device);
  Tensors ours, theirs, factors, our_sums, their_sums;
  for (const std::int64_t first : {0, 1, 2, 7}) {
    ours.push_back(all.narrow(0, first * 4001, 4000 + first).detach().requires_grad_(true));
    theirs.push_back(ours.back().detach().clone().requires_grad_(true));
    factors.push_back(torch::zeros({4000 + first}, device));
    for (Tensors* sums : {&our_sums, &their_sums}) {
      // Where the other tensors are aligned this one is not.
      const std::int64_t start = first == 0 ? 1 : 0;
      sums->push_back(torch::zeros({start + 4000 + first}, device).narrow(0, start, 4000 + first));
    }
  }
  Sgd found(ours, {true, false, true, false}, {}, kernels);
  Sgd expected(theirs, {true, false, true, false}, {});
  give_gradients(ours, theirs, false, generator);
  for (const Tensors* some : {&ours, &theirs}) (*some)[1].grad()[5].fill_(INFINITY);
  const torch::Tensor rate = torch::full({}, 0.1, device);
  found.step(rate, {.factors = factors, .gradient_sums = our_sums});
  expected.step(rate, {.factors = factors, .gradient_sums = their_sums});
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double tolerance = kHasOurArithmetic ? 0.0 : 1e-5;
    CHECK(torch::equal(our_sums[i], their_sums[i]));
    CHECK(torch::allclose(ours[i], theirs[i], tolerance, tolerance, true));
    CHECK(torch::allclose(found.momenta()[i], expected.momenta()[i], tolerance, tolerance, true));
  }
  CHECK(ours[1][5].isnan().item<bool>());
}

// No norms and no pools, of which kernels of our own have other bits than LibTorch's.
Graph plain_network() {
  return chain({1, 8, 8}, {{"conv1", Conv{.in_channels = 1, .out_channels = 8, .kernel = {3, 3}}},
                           {"relu1", Relu{}},
                           {"conv2", Conv{.in_channels = 8, .out_channels = 24, .kernel = {3, 3}}},
                           {"relu2", Relu{}},
                           {"flatten", Flatten{}},
                           {"linear", Linear{.in_features = 384, .out_features = 4}}});
}

// A dense stage and one of pruning. With alpha 0 the importances of single weights and of channels
// have equal bits; those of vectors may differ in the last one, so that masks are equal as long as
// no other value lies so close to a threshold.
Model trained(const Model& model, const torch::Device& device, bool fuses_kernels, bool records,
              std::int64_t vector) {
  TraineeOptions options;
  options.device = device.str();
  options.seed = 5;
  options.vector = vector;
  options.train.batch_size = 48;
  options.train.fuses_kernels = fuses_kernels;
  options.train.records_steps = records;
  TorchTrainee trainee(model, striped_data(), options);
  Stage stage = {.rate = {.rate = 0.05}, .units = 4, .batches_per_unit = 8};
  trainee.begin(stage);
  trainee.train_batches(0, 9);
  stage.is_pruning = true;
  trainee.begin(stage);
  const std::size_t layers = trainee.layers().size();
  trainee.recompute_masks(std::vector<double>(layers, 0.5), {});
  trainee.train_batches(9, 8);
  trainee.recompute_masks(std::vector<double>(layers, 0.6),
                          std::vector<double>(layers, vector == 1 ? 0.0 : 0.2));
  trainee.train_batches(17, 12);
  Model after = model;
  trainee.store(after);
  return after;
}

TEST_CASE("training on a GPU with kernels for weights has the bits of training without them") {
  const torch::Device device = resolve_device("auto");
  if (!kernels_here(sgd_kernels)) return;
  if (!kHasOurArithmetic) {
    MESSAGE("skipped: this LibTorch computes SGD in double");
    return;
  }
  const Model model = initial_model(plain_network(), 3);
  for (const std::int64_t vector : {std::int64_t{1}, std::int64_t{4}, kWholeChannels}) {
    for (const bool records : {false, true}) {
      CAPTURE(vector);
      CAPTURE(records);
      const Model expected = trained(model, device, false, records, vector);
      CHECK((trained(model, device, true, records, vector) == expected));
      CHECK_FALSE((expected == model));
    }
  }
}

}  // namespace
}  // namespace winnow
