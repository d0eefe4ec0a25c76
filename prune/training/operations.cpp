#include "prune/training/operations.h"

#include <torch/torch.h>

#include <vector>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// The dimensions that a rank has: both of a pair, or the second alone.
std::vector<std::int64_t> sizes(const Pair& pair, int rank) {
  return rank == 1 ? std::vector<std::int64_t>{pair[1]}
                   : std::vector<std::int64_t>{pair[0], pair[1]};
}

struct Apply {
  std::span<const torch::Tensor> inputs;
  std::span<const torch::Tensor> parameters;
  bool is_training;

  torch::Tensor optional_bias() const {
    return parameters.size() > 1 ? parameters[1] : torch::Tensor();
  }
  std::vector<torch::Tensor> all_inputs() const { return {inputs.begin(), inputs.end()}; }

  torch::Tensor operator()(const Input&) const {
    fail(ErrorCode::internal, "an input node is not an operation");
  }

  torch::Tensor operator()(const Conv& conv) const {
    const auto run = [&](auto convolve) {
      return convolve(inputs[0], parameters[0], optional_bias(), sizes(conv.stride, conv.rank),
                      sizes(conv.padding, conv.rank), sizes(conv.dilation, conv.rank), conv.groups);
    };
    if (conv.rank == 1) return run([](auto&&... a) { return torch::conv1d(a...); });
    return run([](auto&&... a) { return torch::conv2d(a...); });
  }

  torch::Tensor operator()(const Linear&) const {
    return torch::linear(inputs[0], parameters[0], optional_bias());
  }

  torch::Tensor operator()(const BatchNorm& norm) const {
    return torch::batch_norm(inputs[0], parameters[0], parameters[1], parameters[2], parameters[3],
                             is_training, norm.momentum, norm.epsilon, true);
  }

  torch::Tensor operator()(const Relu&) const { return torch::relu(inputs[0]); }

  torch::Tensor operator()(const Pool& pool) const {
    const auto kernel = sizes(pool.kernel, pool.rank);
    const auto stride = sizes(pool.stride, pool.rank);
    const auto padding = sizes(pool.padding, pool.rank);
    if (pool.kind == PoolKind::max) {
      return pool.rank == 1 ? torch::max_pool1d(inputs[0], kernel, stride, padding)
                            : torch::max_pool2d(inputs[0], kernel, stride, padding);
    }
    return pool.rank == 1 ? torch::avg_pool1d(inputs[0], kernel, stride, padding)
                          : torch::avg_pool2d(inputs[0], kernel, stride, padding);
  }

  torch::Tensor operator()(const GlobalPool& pool) const {
    const torch::Tensor positions = inputs[0].flatten(2);
    return pool.kind == PoolKind::max ? std::get<0>(positions.max(2)) : positions.mean(2);
  }

  torch::Tensor operator()(const Add&) const {
    torch::Tensor sum = inputs[0] + inputs[1];
    for (std::size_t i = 2; i < inputs.size(); ++i) sum = sum + inputs[i];
    return sum;
  }

  torch::Tensor operator()(const Concat&) const { return torch::cat(all_inputs(), 1); }
  torch::Tensor operator()(const Flatten&) const { return inputs[0].flatten(1); }

  torch::Tensor operator()(const Embedding&) const {
    return torch::embedding(parameters[0], inputs[0]).transpose(1, 2);
  }

  torch::Tensor operator()(const Dropout& dropout) const {
    return torch::dropout(inputs[0], dropout.probability, is_training);
  }

  torch::Tensor operator()(const Softmax&) const { return torch::softmax(inputs[0], -1); }
};

}  // namespace

torch::Tensor apply_operation(const Op& op, std::span<const torch::Tensor> inputs,
                              std::span<const torch::Tensor> parameters, bool is_training) {
  return std::visit(Apply{inputs, parameters, is_training}, op);
}

}  // namespace winnow
