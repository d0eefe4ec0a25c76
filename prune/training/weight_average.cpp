#include "prune/training/weight_average.h"

#include <torch/types.h>

namespace winnow {

WeightAverage::WeightAverage(const Network& network, double decay)
    : decay_(decay), parameters_(network.parameters().size()) {
  for (const auto* group : {&network.parameters(), &network.statistics()}) {
    for (const NamedTensor& tensor : *group) {
      names_.push_back(tensor.name + ".average");
      values_.push_back(tensor.value.detach());
      averages_.push_back(tensor.value.detach().clone());
    }
  }
}

void WeightAverage::begin() const {
  const torch::NoGradGuard no_grad;
  torch::_foreach_copy_(averages_, values_);
}

void WeightAverage::add() const {
  const torch::NoGradGuard no_grad;
  torch::_foreach_lerp_(averages_, values_, 1.0 - decay_);
}

std::vector<std::pair<std::string, torch::Tensor>> WeightAverage::state() const {
  std::vector<std::pair<std::string, torch::Tensor>> all;
  for (std::size_t i = 0; i < names_.size(); ++i) all.emplace_back(names_[i], averages_[i]);
  return all;
}

AveragedNetwork::AveragedNetwork(const WeightAverage& average, const PruningMasks& masks)
    : average_(average) {
  const torch::NoGradGuard no_grad;
  for (const torch::Tensor& value : average.values_) own_.push_back(value.clone());
  torch::_foreach_copy_(average.values_, average.averages_);
  masks.mask_weights();
}

AveragedNetwork::~AveragedNetwork() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = average_.parameters_; i < own_.size(); ++i) {
    average_.averages_[i].copy_(average_.values_[i]);
  }
  torch::_foreach_copy_(average_.values_, own_);
}

}  // namespace winnow
