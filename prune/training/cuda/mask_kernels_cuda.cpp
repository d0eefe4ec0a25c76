// MaskKernels of the module: tensors in, launches out.
#include "prune/training/masks/mask_kernels.h"

#include <ATen/Functions.h>

#include <cstring>
#include <limits>

#include "prune/training/cuda/launch_checks.h"
#include "prune/training/cuda/selection_kernels.h"

namespace winnow {
namespace {

using Tensors = std::vector<at::Tensor>;

// On the host; on the device it is one tensor, layers first.
struct Table {
  std::vector<SelectedLayer> layers;
  std::vector<unsigned> layer_of_chunk;

  std::size_t layer_bytes() const { return layers.size() * sizeof(SelectedLayer); }
  std::size_t chunk_bytes() const { return layer_of_chunk.size() * sizeof(unsigned); }
};

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
    table.layers.push_back({.values = importances[i].const_data_ptr<float>(),
                            .mask = masks[i].mutable_data_ptr<std::uint8_t>(),
                            .length = length,
                            .count = static_cast<unsigned>(counts[i]),
                            .chunks = chunks_of(length),
                            .first_chunk = static_cast<unsigned>(table.layer_of_chunk.size())});
    table.layer_of_chunk.insert(table.layer_of_chunk.end(), chunks_of(length),
                                static_cast<unsigned>(i));
  }
  return table;
}

// From pinned memory, which LibTorch keeps until the copy is made: the host does not wait.
at::Tensor on_device(const Table& table, const at::Device& device) {
  const auto bytes = static_cast<std::int64_t>(table.layer_bytes() + table.chunk_bytes());
  const at::Tensor host =
      at::empty({bytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
  auto* to = host.mutable_data_ptr<std::uint8_t>();
  std::memcpy(to, table.layers.data(), table.layer_bytes());
  std::memcpy(to + table.layer_bytes(), table.layer_of_chunk.data(), table.chunk_bytes());
  return host.to(device, /*non_blocking=*/true);
}

at::Tensor words_on(const at::Device& device, std::size_t count) {
  return at::zeros({static_cast<std::int64_t>(count)},
                   at::TensorOptions().dtype(at::kInt).device(device));
}

unsigned* words(const at::Tensor& tensor) {
  return reinterpret_cast<unsigned*>(tensor.mutable_data_ptr<std::int32_t>());
}

void select(const Table& table, const at::Tensor& like) {
  const at::Tensor device_table = on_device(table, like.device());
  const at::Tensor workspace = words_on(like.device(), selection_workspace(table.layers.size()));
  const at::Tensor equals = words_on(like.device(), table.layer_of_chunk.size());
  const auto* first = device_table.const_data_ptr<std::uint8_t>();
  const SelectionCall call = {
      .device = like.device().index(),
      .stream = stream_of(like),
      .chunks = static_cast<unsigned>(table.layer_of_chunk.size()),
      .layers = reinterpret_cast<const SelectedLayer*>(first),
      .layer_of_chunk = reinterpret_cast<const unsigned*>(first + table.layer_bytes()),
      .workspace = words(workspace),
      .equals_of_chunk = words(equals)};
  require(launch_thresholds(call));
  require(launch_masks(call));
}

class CudaMaskKernels : public MaskKernels {
 public:
  Tensors top_blocks(std::span<const at::Tensor> importances,
                     std::span<const std::int64_t> counts) const override {
    Tensors masks;
    for (const at::Tensor& importance : importances) {
      masks.push_back(at::empty(importance.sizes(), importance.options().dtype(at::kByte)));
    }
    const Table table = table_of(importances, counts, masks);
    if (!table.layer_of_chunk.empty()) select(table, importances[0]);
    return masks;
  }
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::MaskKernels* winnow_mask_kernels() {
  static const winnow::CudaMaskKernels kernels;
  return &kernels;
}
