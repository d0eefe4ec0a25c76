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

// What the layers share, one after the other: enough for each of them.
struct Buffers {
  at::Tensor workspace, sorted;
};

Buffers buffers_for(std::span<const at::Tensor> importances) {
  const at::Tensor& like = importances[0];
  std::int64_t most = 0;
  std::size_t most_bytes = 0;
  for (const at::Tensor& importance : importances) {
    std::size_t bytes = 0;
    const auto count = static_cast<unsigned>(importance.numel());
    require(sort_workspace(like.device().index(), count, bytes));
    most = std::max(most, importance.numel());
    most_bytes = std::max(most_bytes, bytes);
  }
  return {at::empty({static_cast<std::int64_t>(most_bytes)}, like.options().dtype(at::kByte)),
          at::empty({most}, like.options())};
}

void sort(const at::Tensor& importance, const Buffers& buffers) {
  require(launch_sort({.device = importance.device().index(),
                       .stream = stream_of(importance),
                       .workspace = buffers.workspace.mutable_data_ptr<std::uint8_t>(),
                       .workspace_bytes = static_cast<std::size_t>(buffers.workspace.numel()),
                       .values = importance.const_data_ptr<float>(),
                       .sorted = buffers.sorted.mutable_data_ptr<float>(),
                       .count = static_cast<unsigned>(importance.numel())}));
}

// Of all layers, each part from behind the rank before.
std::vector<SortedPart> parts_of(std::span<const Ranks> ranks) {
  std::vector<SortedPart> parts;
  for (const Ranks& of_layer : ranks) {
    unsigned first = 0;
    for (const std::int64_t rank : of_layer) {
      const auto last = static_cast<unsigned>(rank);
      parts.push_back({.first = first, .last = last});
      first = last + 1;
    }
  }
  return parts;
}

// `done` parts are of the layers before.
void read_parts(const Buffers& buffers, const at::Tensor& parts, std::int64_t done,
                std::size_t count, const at::Tensor& found) {
  auto* lasts = found.mutable_data_ptr<double>() + done;
  const auto* first = reinterpret_cast<const SortedPart*>(parts.const_data_ptr<std::uint8_t>());
  require(launch_parts({.device = found.device().index(),
                        .stream = stream_of(found),
                        .sorted = buffers.sorted.const_data_ptr<float>(),
                        .parts = first + done,
                        .count = static_cast<unsigned>(count),
                        .lasts = lasts,
                        .squares = lasts + found.size(1)}));
}

}  // namespace

at::Tensor at_ranks_by_kernels(std::span<const at::Tensor> importances,
                               std::span<const Ranks> ranks) {
  TORCH_CHECK(!importances.empty() && importances.size() == ranks.size(), "curves: found ranks of ",
              ranks.size(), " layers, for ", importances.size());
  for (std::size_t i = 0; i < importances.size(); ++i) {
    check(importances[i], ranks[i], importances[0].device());
  }
  const std::vector<SortedPart> parts = parts_of(ranks);
  const at::Tensor table = device_copy({std::as_bytes(std::span(parts))}, importances[0].device());
  const Buffers buffers = buffers_for(importances);
  const at::Tensor found = at::empty({2, static_cast<std::int64_t>(parts.size())},
                                     importances[0].options().dtype(at::kDouble));
  std::int64_t done = 0;
  for (std::size_t i = 0; i < importances.size(); ++i) {
    sort(importances[i], buffers);
    read_parts(buffers, table, done, ranks[i].size(), found);
    done += static_cast<std::int64_t>(ranks[i].size());
  }
  return found;
}

}  // namespace winnow
