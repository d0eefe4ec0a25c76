// MaskKernels of the module: tensors in, launches out.
#include "prune/training/masks/mask_kernels.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "prune/training/cuda/chunk_table.h"
#include "prune/training/cuda/curves.h"
#include "prune/training/cuda/importances.h"
#include "prune/training/cuda/launch_checks.h"
#include "prune/training/cuda/selection_kernels.h"

namespace winnow {
namespace {

using Tensors = std::vector<at::Tensor>;
using Table = ChunkTable<SelectedLayer>;

constexpr std::int64_t kMostVector = 65536;  // a chunk's weights fit into 32 bits

void check(const at::Tensor& importance, std::int64_t count, const at::Device& device) {
  TORCH_CHECK(is_importance(importance, device) && count >= 0 && count <= importance.numel(),
              "masks: found ", importance.numel(), " importances of ", importance.scalar_type(),
              " on ", importance.device(), ", of which ", count, " shall stay");
}

void check(const BlocksBefore& before, const at::Tensor& importance) {
  const std::int64_t groups = importance.dim() > 0 ? importance.size(0) : 0;
  TORCH_CHECK(before.mask.scalar_type() == at::kByte && before.mask.is_contiguous() &&
                  before.mask.sizes() == importance.sizes() &&
                  before.mask.device() == importance.device() && before.vector > 0 &&
                  before.vector <= kMostVector &&
                  groups == (before.outputs + before.vector - 1) / before.vector,
              "masks: found a mask before of ", before.mask.scalar_type(), " and shape ",
              before.mask.sizes(), ", for blocks of shape ", importance.sizes());
}

// `moves` are the layer's row of migrations.
void count_from(const BlocksBefore& before, std::int64_t* moves, SelectedLayer& layer) {
  const std::int64_t groups = std::max<std::int64_t>(before.mask.size(0), 1);
  layer.before = before.mask.const_data_ptr<std::uint8_t>();
  layer.moves = reinterpret_cast<unsigned long long*>(moves);
  layer.block_weights = static_cast<unsigned>(before.vector);
  layer.last_block_weights = static_cast<unsigned>(before.outputs - (groups - 1) * before.vector);
  layer.first_of_last = layer.length - layer.length / static_cast<unsigned>(groups);
}

SelectedLayer selected_layer(const at::Tensor& importance, std::int64_t count,
                             const at::Tensor& mask) {
  const auto length = static_cast<unsigned>(importance.numel());
  return {.values = importance.const_data_ptr<float>(),
          .mask = mask.mutable_data_ptr<std::uint8_t>(),
          .length = length,
          .count = static_cast<unsigned>(count),
          .chunks = chunks_of(length)};
}

// Masks to be written and migrations of 0, or none where there is nothing before.
MaskChoice empty_choice(std::span<const at::Tensor> importances,
                        std::span<const BlocksBefore> before) {
  MaskChoice choice;
  for (const at::Tensor& importance : importances) {
    choice.masks.push_back(at::empty(importance.sizes(), importance.options().dtype(at::kByte)));
  }
  if (before.empty()) return choice;
  TORCH_CHECK(before.size() == importances.size(), "masks: found ", before.size(),
              " masks before, for ", importances.size(), " layers");
  choice.migrations = at::zeros({static_cast<std::int64_t>(before.size()), kMoveCounts},
                                importances[0].options().dtype(at::kLong));
  return choice;
}

at::Tensor words_on(const at::Device& device, std::size_t count) {
  return at::zeros({static_cast<std::int64_t>(count)},
                   at::TensorOptions().dtype(at::kInt).device(device));
}

unsigned* words(const at::Tensor& tensor) {
  return reinterpret_cast<unsigned*>(tensor.mutable_data_ptr<std::int32_t>());
}

void select(const Table& table, const at::Tensor& like) {
  const at::Tensor device_table = table.on_device(like.device());
  const at::Tensor workspace = words_on(like.device(), selection_workspace(table.layers.size()));
  const at::Tensor equals = words_on(like.device(), table.chunks());
  SelectionCall call = {.device = like.device().index(),
                        .stream = stream_of(like),
                        .workspace = words(workspace),
                        .equals_of_chunk = words(equals)};
  table.enter(device_table, call);
  require(launch_thresholds(call));
  require(launch_masks(call));
}

class CudaMaskKernels : public MaskKernels {
 public:
  Tensors importances(std::span<const RankedLayer> layers) const override {
    return importances_by_kernels(layers);
  }

  MaskChoice top_blocks(std::span<const at::Tensor> importances,
                        std::span<const std::int64_t> counts,
                        std::span<const BlocksBefore> before) const override {
    MaskChoice choice = empty_choice(importances, before);
    auto* moves = before.empty() ? nullptr : choice.migrations.mutable_data_ptr<std::int64_t>();
    Table table;
    for (std::size_t i = 0; i < importances.size(); ++i) {
      check(importances[i], counts[i], importances[0].device());
      SelectedLayer layer = selected_layer(importances[i], counts[i], choice.masks[i]);
      if (moves) {
        check(before[i], importances[i]);
        count_from(before[i], moves + kMoveCounts * i, layer);
      }
      table.add(layer);
    }
    if (table.chunks() > 0) select(table, importances[0]);
    return choice;
  }

  at::Tensor at_ranks(std::span<const at::Tensor> importances,
                      std::span<const Ranks> ranks) const override {
    return at_ranks_by_kernels(importances, ranks);
  }
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::MaskKernels* winnow_mask_kernels() {
  static const winnow::CudaMaskKernels kernels;
  return &kernels;
}
