#include "prune/training/steps/teacher.h"

#include <torch/types.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace winnow {

// ((byte / 255 - mean) / deviation) of `to` from that of `from`.
InputChange input_change(const Preprocessing& from, const Preprocessing& to,
                         const NetworkOptions& options) {
  if (from.mean == to.mean && from.deviation == to.deviation) return {};
  const std::size_t channels =
      std::max({from.mean.size(), from.deviation.size(), to.mean.size(), to.deviation.size()});
  std::vector<float> factor(channels), offset(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const auto value = [&](const std::vector<float>& of, float otherwise) {
      return of.empty() ? otherwise : of[c];
    };
    const float deviation = value(to.deviation, 1.0f);
    factor[c] = value(from.deviation, 1.0f) / deviation;
    offset[c] = (value(from.mean, 0.0f) - value(to.mean, 0.0f)) / deviation;
  }
  const auto on_device = [&](const std::vector<float>& values) {
    return torch::tensor(values).to(options.device, options.type).view({-1, 1, 1});
  };
  return {on_device(factor), on_device(offset)};
}

Teacher::Teacher(const Network& network, InputChange change)
    : network_(network.graph(), network.options()), change_(std::move(change)) {
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
    const torch::Tensor seen =
        change_.factor.defined() ? input * change_.factor + change_.offset : input;
    const torch::Tensor of_teacher = network_.logits(seen, Mode::evaluation).to(torch::kFloat);
    wanted = torch::log_softmax(of_teacher / temperature, 1);
  }
  const torch::Tensor found = torch::log_softmax(logits / temperature, 1);
  const torch::Tensor divergence =
      torch::kl_div(found, wanted, at::Reduction::Sum, true) / static_cast<double>(logits.size(0));
  return (1.0 - how.weight) * loss + how.weight * temperature * temperature * divergence;
}

}  // namespace winnow
