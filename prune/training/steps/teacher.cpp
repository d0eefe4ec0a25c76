#include "prune/training/steps/teacher.h"

#include <torch/torch.h>

namespace winnow {

Teacher::Teacher(const Network& network) : network_(network.graph(), network.options()) {
  become(network);
}

void Teacher::become(const Network& network) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < network.parameters().size(); ++i) {
    network_.parameters()[i].value.copy_(network.parameters()[i].value);
  }
  for (std::size_t i = 0; i < network.statistics().size(); ++i) {
    network_.statistics()[i].value.copy_(network.statistics()[i].value);
  }
}

torch::Tensor Teacher::blend(const torch::Tensor& loss, const torch::Tensor& logits,
                             const torch::Tensor& input, const Distillation& how) const {
  const double temperature = how.temperature;
  torch::Tensor wanted;
  {
    const torch::NoGradGuard no_grad;
    const torch::Tensor of_teacher = network_.logits(input, Mode::evaluation).to(torch::kFloat);
    wanted = torch::log_softmax(of_teacher / temperature, 1);
  }
  const torch::Tensor found = torch::log_softmax(logits / temperature, 1);
  const torch::Tensor divergence =
      torch::kl_div(found, wanted, at::Reduction::Sum, true) / static_cast<double>(logits.size(0));
  return (1.0 - how.weight) * loss + how.weight * temperature * temperature * divergence;
}

}  // namespace winnow
