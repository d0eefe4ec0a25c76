#include "prune/training/steps/shared_step.h"

#include <torch/torch.h>

#include <vector>

#include "runtime/base/error.h"

namespace winnow {

// One sum for all: gradients, statistics, loss.
void add_up_step(const Network& network, torch::Tensor& loss, const BatchPart& part, Team& team) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> all, flat;
  for (const NamedTensor& parameter : network.parameters()) {
    const torch::Tensor& gradient = parameter.value.grad();
    if (!gradient.defined()) fail(ErrorCode::internal, "add_up_step: a gradient is missing");
    all.push_back(gradient);
  }
  for (const NamedTensor& statistic : network.statistics()) {
    all.push_back(statistic.value.mul_(part.weight));
  }
  loss = loss.detach();
  all.push_back(loss);
  for (const torch::Tensor& tensor : all) flat.push_back(tensor.reshape({-1}));
  torch::Tensor sum = torch::cat(flat);
  team.add_up(sum);
  std::int64_t first = 0;
  for (torch::Tensor& tensor : flat) {
    tensor = sum.narrow(0, first, tensor.numel());
    first += tensor.numel();
  }
  for (std::size_t i = 0; i < all.size(); ++i) flat[i] = flat[i].view(all[i].sizes());
  torch::_foreach_copy_(all, flat);
}

}  // namespace winnow
