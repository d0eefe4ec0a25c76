#include "prune/training/cuda/packs.cuh"
#include "prune/training/cuda/sgd_launch.h"
#include "prune/training/cuda/tensor_table.cuh"

namespace winnow {
namespace {

struct SgdRule {
  float momentum, weight_decay;
  bool is_nesterov;
};

template <int kSize>
__device__ void load(const float* from, float (&values)[kSize]) {
  if constexpr (kSize == 1) {
    values[0] = *from;
  } else {
    Pack<float>::load(from, values);
  }
}

template <int kSize>
__device__ void store(float* to, const float (&values)[kSize]) {
  if constexpr (kSize == 1) {
    *to = values[0];
  } else {
    Pack<float>::store(to, values);
  }
}

// The arithmetic is that of LibTorch's fused SGD (2.11), so that results have equal bits:
// contracted where the compiler contracts LibTorch's expressions. The last one is written as there,
// since its contraction is left to the assembler.
struct SgdWork {
  const SgdEntry& entry;
  SgdRule rule;
  float rate;

  __device__ void step(float& weight, float gradient, float& momentum) const {
    float g = gradient;
    if (rule.weight_decay != 0.0f) g = __fmaf_rn(rule.weight_decay, weight, g);
    momentum = __fadd_rn(g, __fmul_rn(rule.momentum, momentum));
    const float change = rule.is_nesterov ? __fmaf_rn(rule.momentum, momentum, g) : momentum;
    weight = weight - rate * change;
  }

  template <int kSize>
  __device__ void add_up(std::int64_t i, const float (&gradients)[kSize]) const {
    float sums[kSize];
    load(entry.gradient_sum + i, sums);
#pragma unroll
    for (int k = 0; k < kSize; ++k) sums[k] += gradients[k];
    store(entry.gradient_sum + i, sums);
  }

  template <int kSize>
  __device__ void at(std::int64_t i) const {
    float weights[kSize], gradients[kSize], momenta[kSize], factors[kSize];
    load(entry.weight + i, weights);
    load(entry.gradient + i, gradients);
    load(entry.momentum + i, momenta);
    if (entry.factor) load(entry.factor + i, factors);
    if (entry.gradient_sum) add_up(i, gradients);
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      step(weights[k], gradients[k], momenta[k]);
      if (!entry.factor) continue;
      weights[k] *= factors[k];  // what is no number stays none, as with a multiplication apart
      momenta[k] *= factors[k];
    }
    store(entry.weight + i, weights);
    store(entry.momentum + i, momenta);
  }
};

__global__ void __launch_bounds__(kTableThreads)
    step_sgd(const __grid_constant__ TensorTable<SgdEntry> table, SgdRule rule, const float* rate) {
  const int index = entry_of_block(table);
  const SgdEntry& entry = table.entries[index];
  if (!entry.is_decayed) rule.weight_decay = 0.0f;
  const bool is_aligned =
      are_aligned(entry.weight, entry.gradient, entry.momentum, entry.factor, entry.gradient_sum);
  go_through_chunk<Pack<float>::kSize>(table, index, is_aligned, SgdWork{entry, rule, *rate});
}

}  // namespace

const char* launch_sgd(const SgdCall& call, std::span<const SgdEntry> entries) {
  cudaSetDevice(call.device);
  const SgdRule rule = {static_cast<float>(call.momentum), static_cast<float>(call.weight_decay),
                        call.is_nesterov};
  for_each_table(entries, [&](const TensorTable<SgdEntry>& table, unsigned blocks) {
    step_sgd<<<blocks, kTableThreads, 0, call.stream>>>(table, rule, call.rate);
  });
  return launch_error();
}

}  // namespace winnow
