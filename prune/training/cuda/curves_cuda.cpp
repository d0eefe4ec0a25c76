#include "prune/training/cuda/curves.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "prune/training/cuda/curve_launch.h"
#include "prune/training/cuda/device_copy.h"
#include "prune/training/cuda/importances.h"
#include "prune/training/cuda/launch_checks.h"

namespace winnow {
namespace {

void check(const at::Tensor& importance, const Ranks& ranks, const at::Device& device) {
  TORCH_CHECK(is_importance(importance, device) && !ranks.empty() && ranks.front() == 0 &&
                  ranks.back() < importance.numel() && std::ranges::is_sorted(ranks),
              "curves: found ", importance.numel(), " importances of ", importance.scalar_type(),
              " on ", importance.device(), " and ", ranks.size(), " ranks of them");
}

at::Tensor bytes_on(const at::Device& device, std::size_t bytes) {
  return at::empty({static_cast<std::int64_t>(bytes)},
                   at::TensorOptions().dtype(at::kByte).device(device));
}

// Enough for each of them, one after the other.
at::Tensor workspace_of(std::span<const at::Tensor> importances) {
  const at::Device device = importances[0].device();
  std::int64_t most = 0;
  for (const at::Tensor& importance : importances) most = std::max(most, importance.numel());
  std::size_t bytes = 0;
  require(sort_workspace(device.index(), static_cast<unsigned>(most), bytes));
  return bytes_on(device, bytes);
}

at::Tensor sorted_from(const at::Tensor& importance, const at::Tensor& workspace) {
  const at::Tensor sorted = at::empty_like(importance);
  require(launch_sort({.device = importance.device().index(),
                       .stream = stream_of(importance),
                       .workspace = workspace.mutable_data_ptr<std::uint8_t>(),
                       .workspace_bytes = static_cast<std::size_t>(workspace.numel()),
                       .values = importance.const_data_ptr<float>(),
                       .sorted = sorted.mutable_data_ptr<float>(),
                       .count = static_cast<unsigned>(importance.numel())}));
  return sorted;
}

// Each from behind the rank before.
void add_parts(const at::Tensor& sorted, const Ranks& ranks, std::vector<SortedPart>& parts) {
  unsigned first = 0;
  for (const std::int64_t rank : ranks) {
    const auto last = static_cast<unsigned>(rank);
    parts.push_back({.sorted = sorted.const_data_ptr<float>(), .first = first, .last = last});
    first = last + 1;
  }
}

at::Tensor read(const std::vector<SortedPart>& parts, const at::Tensor& like) {
  const auto count = static_cast<std::int64_t>(parts.size());
  const at::Tensor found = at::empty({2, count}, like.options().dtype(at::kDouble));
  const at::Tensor table = device_copy({std::as_bytes(std::span(parts))}, like.device());
  auto* lasts = found.mutable_data_ptr<double>();
  require(launch_parts(
      {.device = like.device().index(),
       .stream = stream_of(like),
       .parts = reinterpret_cast<const SortedPart*>(table.const_data_ptr<std::uint8_t>()),
       .count = static_cast<unsigned>(count),
       .lasts = lasts,
       .squares = lasts + count}));
  return found;
}

}  // namespace

at::Tensor at_ranks_by_kernels(std::span<const at::Tensor> importances,
                               std::span<const Ranks> ranks) {
  TORCH_CHECK(!importances.empty() && importances.size() == ranks.size(), "curves: found ranks of ",
              ranks.size(), " layers, for ", importances.size());
  for (std::size_t i = 0; i < importances.size(); ++i) {
    check(importances[i], ranks[i], importances[0].device());
  }
  const at::Tensor workspace = workspace_of(importances);
  std::vector<at::Tensor> sorted;  // live until the launch
  std::vector<SortedPart> parts;
  for (std::size_t i = 0; i < importances.size(); ++i) {
    sorted.push_back(sorted_from(importances[i], workspace));
    add_parts(sorted.back(), ranks[i], parts);
  }
  return read(parts, importances[0]);
}

}  // namespace winnow
