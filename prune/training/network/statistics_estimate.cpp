#include "prune/training/network/statistics_estimate.h"

#include <torch/types.h>

#include <map>

namespace winnow {

StatisticsEstimate::StatisticsEstimate(const Network& network) : network_(network) {
  std::map<std::string, torch::Tensor> statistics;
  for (const NamedTensor& tensor : network.statistics()) statistics[tensor.name] = tensor.value;
  for (const Node& node : network.graph().nodes) {
    if (!std::holds_alternative<BatchNorm>(node.op)) continue;
    const torch::Tensor& mean = statistics.at(node.name + ".running_mean");
    const torch::Tensor zero = torch::zeros_like(mean, mean.options().dtype(torch::kDouble));
    norms_.push_back({.input = node.inputs.front(),
                      .mean = mean,
                      .variance = statistics.at(node.name + ".running_var"),
                      .mean_sum = zero,
                      .variance_sum = zero.clone()});
  }
}

void StatisticsEstimate::add(const torch::Tensor& input) {
  images_ += input.size(0);
  const auto hook = [this](const Node& node, const torch::Tensor& value) {
    for (Norm& norm : norms_) {
      if (norm.input == node.name) observe(norm, value);
    }
    return value;
  };
  network_.forward(input, Mode::evaluation, hook);
}

// Training, too, normalises by the variance over n values and remembers the one over n - 1.
void StatisticsEstimate::observe(Norm& norm, const torch::Tensor& value) {
  const torch::Tensor rows = value.to(torch::kDouble).transpose(0, 1).flatten(1);  // [C, values]
  const torch::Tensor mean = rows.mean(1);
  const torch::Tensor variance = rows.var(1, false);
  const auto count = static_cast<double>(rows.size(1));
  const auto weight = static_cast<double>(value.size(0));
  norm.mean_sum += weight * mean;
  norm.variance_sum += weight * count / (count - 1) * variance;
  norm.mean.copy_(mean);
  norm.variance.copy_(variance);
}

void StatisticsEstimate::finish() {
  for (Norm& norm : norms_) {
    norm.mean.copy_(norm.mean_sum / static_cast<double>(images_));
    norm.variance.copy_(norm.variance_sum / static_cast<double>(images_));
  }
}

}  // namespace winnow
