#include "prune/training/steps/shared_step.h"

#include <torch/types.h>

#include <vector>

#include "prune/training/tensor_layout.h"
#include "runtime/base/error.h"

namespace winnow {

// One sum for all: gradients, in their weights' layout at every rank, statistics, loss.
void add_up_step(const Network& network, torch::Tensor& loss, const BatchPart& part, Team& team) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> all;
  for (const NamedTensor& parameter : network.parameters()) {
    torch::Tensor& gradient = parameter.value.mutable_grad();
    if (!gradient.defined()) fail(ErrorCode::internal, "add_up_step: a gradient is missing");
    gradient = laid_out_as(gradient, parameter.value);
    all.push_back(in_memory_order(gradient));
  }
  for (const NamedTensor& statistic : network.statistics()) {
    all.push_back(in_memory_order(statistic.value.mul_(part.weight)));
  }
  loss = loss.detach();
  all.push_back(in_memory_order(loss));
  torch::Tensor sum = torch::cat(all);
  team.add_up(sum);
  std::vector<std::int64_t> sizes;
  for (const torch::Tensor& tensor : all) sizes.push_back(tensor.numel());
  torch::_foreach_copy_(all, sum.split_with_sizes(sizes));
}

}  // namespace winnow
