// The exponential moving average of a network in training. Polyak and Juditsky, "Acceleration of
// stochastic approximation by averaging", 1992, with weights that decay.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "prune/training/masks/pruning_masks.h"
#include "prune/training/network/network.h"

namespace winnow {

class WeightAverage {
 public:
  // Of parameters and running statistics of `network`, which must outlive it.
  WeightAverage(const Network& network, double decay);

  // The average is the network as it is.
  void begin() const;

  // After each step, with d the decay and w the network's tensors: a <- d a + (1 - d) w. Recorded
  // with the step.
  void add() const;

  // The tensors of the average, under the network's names and ".average".
  std::vector<std::pair<std::string, torch::Tensor>> state() const;

 private:
  friend class AveragedNetwork;

  double decay_;
  std::vector<std::string> names_;
  std::vector<torch::Tensor> values_, averages_;
  std::size_t parameters_;  // so many of them; the others are statistics
};

// While it lives the network is the average under the masks. Statistics that are then estimated
// anew stay with the average.
class AveragedNetwork {
 public:
  AveragedNetwork(const WeightAverage& average, const PruningMasks& masks);
  ~AveragedNetwork();
  AveragedNetwork(const AveragedNetwork&) = delete;
  AveragedNetwork& operator=(const AveragedNetwork&) = delete;

 private:
  const WeightAverage& average_;
  std::vector<torch::Tensor> own_;  // what the network was
};

}  // namespace winnow
