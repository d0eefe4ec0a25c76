#include "prune/training/steps/sgd.h"

#include <torch/optim.h>

#include "tests/throws.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

torch::Tensor parameter(torch::IntArrayRef shape) {
  return torch::randn(shape, torch::kDouble).requires_grad_(true);
}

torch::Tensor rate(double value) {
  return torch::full({}, value, torch::kFloat);
}

// Sets the gradients of both to the same random numbers.
void give_gradients(std::vector<torch::Tensor>& ours, std::vector<torch::Tensor>& theirs) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ours[i].mutable_grad() = torch::randn_like(ours[i]).detach();
    theirs[i].mutable_grad() = ours[i].grad().clone();
  }
}

TEST_CASE("steps equal LibTorch's SGD, with and without Nesterov") {
  for (const bool is_nesterov : {true, false}) {
    torch::manual_seed(1);
    std::vector<torch::Tensor> ours = {parameter({3, 4}), parameter({5})};
    std::vector<torch::Tensor> theirs;
    for (const auto& tensor : ours) theirs.push_back(tensor.detach().clone().requires_grad_(true));
    Sgd sgd(ours, {true, true},
            {.momentum = 0.9, .is_nesterov = is_nesterov, .weight_decay = 0.01});
    torch::optim::SGD reference(
        theirs,
        torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01).nesterov(is_nesterov));
    for (int step = 0; step < 5; ++step) {
      give_gradients(ours, theirs);
      sgd.step(rate(0.1));
      reference.step();
    }
    for (std::size_t i = 0; i < ours.size(); ++i) CHECK(torch::allclose(ours[i], theirs[i]));
  }
}

TEST_CASE("weight decay leaves parameters alone that are not decayed") {
  std::vector<torch::Tensor> tensors = {torch::ones({1}, torch::requires_grad()),
                                        torch::ones({1}, torch::requires_grad())};
  Sgd sgd(tensors, {true, false}, {.momentum = 0, .weight_decay = 0.5});
  for (auto& tensor : tensors) tensor.mutable_grad() = torch::zeros({1});
  sgd.step(rate(0.1));
  CHECK(tensors[0].item<float>() == doctest::Approx(0.95));
  CHECK(tensors[1].item<float>() == 1.0f);
}

TEST_CASE("clipping scales all gradients to the norm, and small ones not at all") {
  std::vector<torch::Tensor> tensors = {torch::zeros({1}, torch::requires_grad()),
                                        torch::zeros({1}, torch::requires_grad())};
  Sgd sgd(tensors, {true, true}, {.momentum = 0, .weight_decay = 0, .clip_norm = 1});
  tensors[0].mutable_grad() = torch::tensor({3.0f});
  tensors[1].mutable_grad() = torch::tensor({4.0f});
  sgd.step(rate(1.0));  // norm 5
  CHECK(tensors[0].item<float>() == doctest::Approx(-0.6));
  CHECK(tensors[1].item<float>() == doctest::Approx(-0.8));
  tensors[0].mutable_grad() = torch::tensor({0.1f});
  tensors[1].mutable_grad() = torch::tensor({0.0f});
  sgd.step(rate(1.0));
  CHECK(tensors[0].item<float>() == doctest::Approx(-0.7));
}

TEST_CASE("gradients are summed as they are before clipping, where there is a sum") {
  std::vector<torch::Tensor> tensors = {torch::zeros({1}, torch::requires_grad()),
                                        torch::zeros({1}, torch::requires_grad())};
  Sgd sgd(tensors, {true, true}, {.momentum = 0, .weight_decay = 0, .clip_norm = 1});
  const std::vector<torch::Tensor> sums = {torch::ones({1}), torch::Tensor()};
  for (int step = 0; step < 2; ++step) {
    tensors[0].mutable_grad() = torch::tensor({3.0f});
    tensors[1].mutable_grad() = torch::tensor({4.0f});
    sgd.step(rate(1.0), {.gradient_sums = sums});
  }
  CHECK(sums[0].item<float>() == 7.0f);
  CHECK(tensors[0].item<float>() == doctest::Approx(-1.2));
}

TEST_CASE("a step drops the gradients, so that a second one without backward is refused") {
  std::vector<torch::Tensor> tensors = {torch::zeros({1}, torch::requires_grad())};
  Sgd sgd(tensors, {true}, {});
  tensors[0].mutable_grad() = torch::ones({1});
  sgd.step(rate(0.1));
  CHECK(error_of([&] { sgd.step(rate(0.1)); }) == ErrorCode::internal);
}

}  // namespace
}  // namespace winnow
