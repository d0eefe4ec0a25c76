#include "runtime/challenge/engines/grouped/group_weights.h"

#include <cstring>

namespace winnow::challenge {
namespace {

constexpr std::size_t kAlignment = 256;  // as that of memory from cudaMalloc

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

GroupPiece::Arrays GroupPiece::arrays_of(const GroupedLayer& layer) {
  const auto bytes = [](const auto& values) { return std::as_bytes(std::span(values)); };
  return {bytes(layer.step_begin), bytes(layer.input),       bytes(layer.weight),
          bytes(layer.bias),       bytes(layer.panel_begin), bytes(layer.panel_row),
          bytes(layer.local),      bytes(layer.panel_reads), bytes(layer.panel_group)};
}

GroupPiece::GroupPiece(const GroupedLayer& layer) {
  scalars_.groups = layer.groups();
  scalars_.weight_terms = layer.weight_terms;
  scalars_.steps = layer.steps();
  scalars_.most_panel_rows = layer.most_panel_rows();
  scalars_.reads_whole_groups = layer.reads_whole_groups();
  scalars_.has_positive_bias = layer.has_positive_bias();
  const Arrays arrays = arrays_of(layer);
  for (std::size_t a = 0; a < kArrays; ++a) {
    begin_[a] = end_;
    is_empty_[a] = arrays[a].empty();
    end_ = aligned(end_ + arrays[a].size());
  }
}

void GroupPiece::write(const GroupedLayer& layer, std::span<std::byte> piece) const {
  const Arrays arrays = arrays_of(layer);
  for (std::size_t a = 0; a < kArrays; ++a) {
    if (!is_empty_[a]) std::memcpy(&piece[begin_[a]], arrays[a].data(), arrays[a].size());
  }
}

GroupView GroupPiece::view(const std::byte* piece) const {
  GroupView view = scalars_;
  std::size_t a = 0;  // in the order of arrays_of()
  const auto set = [&]<typename T>(const T*& array) {
    array = is_empty_[a] ? nullptr : reinterpret_cast<const T*>(piece + begin_[a]);
    ++a;
  };
  set(view.step_begin);
  set(view.input);
  set(view.weight);
  set(view.bias);
  set(view.panel_begin);
  set(view.panel_row);
  set(view.local);
  set(view.panel_reads);
  set(view.panel_group);
  return view;
}

}  // namespace winnow::challenge
