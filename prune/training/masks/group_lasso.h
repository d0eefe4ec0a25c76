// Norms of groups of weights and the proximal step of the group lasso, on whole tensors.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace winnow {

// The root of the sum of squares of each filter of a weight [K, ...]: [K] in float.
torch::Tensor filter_norms(const torch::Tensor& weight);

// Of each channel W[:, c, ...]: [C].
torch::Tensor channel_norms(const torch::Tensor& weight);

// Of each kernel shape W[:, c, ...]: [C, ...] without the first dimension.
torch::Tensor shape_norms(const torch::Tensor& weight);

// What the proximal step multiplies groups by: max(0, 1 - threshold / norm), the threshold no more
// than 0.9 times `largest`, of the groups that compete. 0 where the norm is 0.
torch::Tensor shrinkage(const torch::Tensor& norms, const torch::Tensor& threshold,
                        const torch::Tensor& largest);

// The step for the filters, channels or kernel shapes of one layer, in place. n is the number of
// kept weights of a group: threshold = strength * sqrt(n), strength with the learning rate in it.
enum class GroupKind { filters, channels, shapes };
void shrink(const torch::Tensor& weight, GroupKind kind, double strength, double n);

// Numbers in host memory. Waits for the device.
std::vector<double> to_doubles(const torch::Tensor& values);

}  // namespace winnow
