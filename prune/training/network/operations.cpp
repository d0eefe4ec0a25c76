#include "prune/training/network/operations.h"

#include <torch/types.h>

#include <limits>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/model/pool_axis.h"

namespace winnow {
namespace {

// The dimensions that a rank has: both of a pair, or the second alone.
std::vector<std::int64_t> sizes(const Pair& pair, int rank) {
  return rank == 1 ? std::vector<std::int64_t>{pair[1]}
                   : std::vector<std::int64_t>{pair[0], pair[1]};
}

// Whether LibTorch has its paddings.
bool fits_torch(const Pool& pool) {
  return !pool.padding_end && 2 * pool.padding[0] <= pool.kernel[0] &&
         2 * pool.padding[1] <= pool.kernel[1];
}

torch::Tensor torch_pool(const Pool& pool, const torch::Tensor& input, bool rounds_up) {
  const auto kernel = sizes(pool.kernel, pool.rank);
  const auto stride = sizes(pool.stride, pool.rank);
  const auto padding = sizes(pool.padding, pool.rank);
  if (pool.kind == PoolKind::max) {
    return pool.rank == 1 ? torch::max_pool1d(input, kernel, stride, padding, 1, rounds_up)
                          : torch::max_pool2d(input, kernel, stride, padding, 1, rounds_up);
  }
  return pool.rank == 1
             ? torch::avg_pool1d(input, kernel, stride, padding, rounds_up, pool.counts_padding)
             : torch::avg_pool2d(input, kernel, stride, padding, rounds_up, pool.counts_padding);
}

// Pooling of an input that is brought to exactly the positions that windows cover. An average
// becomes a ratio: of the values, and of ones where positions count.
torch::Tensor padded_pool(const Pool& pool, const torch::Tensor& input) {
  Pool windows = pool;
  windows.padding = {0, 0};
  std::vector<std::int64_t> around, counted_around;  // the last dimension first, as LibTorch wants
  std::vector<std::int64_t> counted(2, 1);
  for (std::int64_t d = input.dim() - 1; d >= 2; --d) {
    const PoolAxis axis = pool_axis(pool, d == input.dim() - 1 ? 1 : 0, input.size(d));
    const std::int64_t covered = (axis.positions() - 1) * axis.stride + axis.kernel;
    const std::int64_t behind = covered - axis.size - axis.begin;
    around.insert(around.end(), {axis.begin, behind});
    const std::int64_t padding = axis.counts_padding ? axis.begin + axis.end : 0;
    const std::int64_t before = axis.counts_padding ? 0 : axis.begin;
    counted.insert(counted.begin() + 2, axis.size + padding);
    counted_around.insert(counted_around.end(), {before, covered - before - axis.size - padding});
  }
  const bool is_max = pool.kind == PoolKind::max;
  const double filler = is_max ? -std::numeric_limits<double>::infinity() : 0;
  const torch::Tensor pooled =
      torch_pool(windows, torch::constant_pad_nd(input, around, filler), false);
  if (is_max) return pooled;
  const auto type = torch::promote_types(input.scalar_type(), torch::kFloat);
  const torch::Tensor ones = torch::ones(counted, input.options().dtype(type));
  const torch::Tensor share =
      torch_pool(windows, torch::constant_pad_nd(ones, counted_around), false);
  return (pooled / share).to(pooled.scalar_type());
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

  torch::Tensor operator()(const Relu& relu) const {
    return relu.max_value ? torch::hardtanh(inputs[0], 0, *relu.max_value) : torch::relu(inputs[0]);
  }

  torch::Tensor operator()(const Pool& pool) const {
    return fits_torch(pool) ? torch_pool(pool, inputs[0], pool.rounds_up)
                            : padded_pool(pool, inputs[0]);
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
    // Row 0 is the padding of sentences (runtime/text/vocabulary.h): it stays as it is.
    return torch::embedding(parameters[0], inputs[0], /*padding_idx=*/0).transpose(1, 2);
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

torch::Tensor apply_dropout(const Dropout& dropout, const torch::Tensor& input,
                            const BatchPart& part) {
  std::vector<std::int64_t> sizes = input.sizes().vec();
  sizes[0] = part.of;
  const auto options = input.options().requires_grad(false);
  const torch::Tensor ones = torch::empty(sizes, options, input.suggest_memory_format()).fill_(1);
  return input * torch::dropout(ones, dropout.probability, true).narrow(0, part.first, part.count);
}

}  // namespace winnow
