// Knowledge distillation: a network learns the outputs of another one beside the labels. Hinton,
// Vinyals and Dean, "Distilling the knowledge in a neural network", 2015.
#pragma once

#include <torch/types.h>

#include "prune/training/network/network.h"
#include "prune/training/train_config.h"
#include "runtime/model/preprocessing.h"

namespace winnow {

// Samples that were prepared in one way, as they are in another: x * factor + offset.
struct InputChange {
  torch::Tensor factor, offset;  // [C, 1, 1]; undefined: they stay as they are
};
InputChange input_change(const Preprocessing& from, const Preprocessing& to,
                         const NetworkOptions& options);

class Teacher {
 public:
  // A copy of `network` as it is, which sees inputs after `change`.
  explicit Teacher(const Network& network, InputChange change = {});

  // Takes the values of `network`, of the same graph, in place: steps that were recorded with this
  // teacher stay right.
  void become(const Network& network);

  // With w the weight, T the temperature and p(z) = softmax(z / T):
  //
  //   (1 - w) loss + w T^2 KL(p(teacher's logits of input) || p(logits))
  //
  // as the mean over the batch. Gradients go to `loss` and `logits` only.
  //
  //   logits  [N, classes], of the network that learns
  //   input   [N, ...], as the network that learns sees it
  torch::Tensor blend(const torch::Tensor& loss, const torch::Tensor& logits,
                      const torch::Tensor& input, const Distillation& how) const;

 private:
  Network network_;
  InputChange change_;
};

}  // namespace winnow
