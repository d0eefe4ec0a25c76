// MaskKernels of the module: tensors in, launches out.
#include "prune/training/masks/mask_kernels.h"

#include <ATen/Functions.h>

#include <limits>

#include "prune/training/cuda/chunk_table.h"
#include "prune/training/cuda/importances.h"
#include "prune/training/cuda/launch_checks.h"
#include "prune/training/cuda/selection_kernels.h"

namespace winnow {
namespace {

using Tensors = std::vector<at::Tensor>;

using Table = ChunkTable<SelectedLayer>;

void check(const at::Tensor& importance, std::int64_t count) {
  TORCH_CHECK(importance.scalar_type() == at::kFloat && importance.is_contiguous() &&
                  importance.numel() <= std::numeric_limits<std::int32_t>::max() && count >= 0 &&
                  count <= importance.numel(),
              "masks: found ", importance.numel(), " importances of ", importance.scalar_type(),
              ", of which ", count, " shall stay");
}

Table table_of(std::span<const at::Tensor> importances, std::span<const std::int64_t> counts,
               const Tensors& masks) {
  Table table;
  for (std::size_t i = 0; i < importances.size(); ++i) {
    check(importances[i], counts[i]);
    const auto length = static_cast<unsigned>(importances[i].numel());
    table.add({.values = importances[i].const_data_ptr<float>(),
               .mask = masks[i].mutable_data_ptr<std::uint8_t>(),
               .length = length,
               .count = static_cast<unsigned>(counts[i]),
               .chunks = chunks_of(length)});
  }
  return table;
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
  Tensors importances(std::span<const RankedLayer> layers, double alpha) const override {
    return importances_by_kernels(layers, alpha);
  }

  Tensors top_blocks(std::span<const at::Tensor> importances,
                     std::span<const std::int64_t> counts) const override {
    Tensors masks;
    for (const at::Tensor& importance : importances) {
      masks.push_back(at::empty(importance.sizes(), importance.options().dtype(at::kByte)));
    }
    const Table table = table_of(importances, counts, masks);
    if (table.chunks() > 0) select(table, importances[0]);
    return masks;
  }
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::MaskKernels* winnow_mask_kernels() {
  static const winnow::CudaMaskKernels kernels;
  return &kernels;
}
