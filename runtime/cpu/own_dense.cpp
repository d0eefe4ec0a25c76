#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/cpu/nchw_conv.h"
#include "runtime/cpu/nhwc_conv.h"

namespace winnow {
namespace {

constexpr int kVector = 16;  // a multiple of the lanes of every instruction set

// Blocks of every column, zeros included: a dense layer's time must not depend on its zeros.
BlockCsr all_blocks(const ConvWork& work, int vector) {
  const std::int64_t channels = work.blocks.channels, cols = work.blocks.cols;
  const std::vector<float> dense = dense_weight(work.blocks);
  BlockCsr blocks{channels, cols, vector, {0}, {}, {}};
  for (std::int64_t first = 0; first < channels; first += vector) {
    for (std::int64_t col = 0; col < cols; ++col) {
      blocks.column.push_back(static_cast<std::uint32_t>(col));
      for (std::int64_t k = first; k < first + vector; ++k) {
        blocks.value.push_back(k < channels ? dense[k * cols + col] : 0.0f);
      }
    }
    blocks.begin.push_back(static_cast<std::int64_t>(blocks.column.size()));
  }
  return blocks;
}

}  // namespace

std::unique_ptr<CpuLayer> make_own_dense(const ConvWork& work, const MicroKernels& kernels,
                                         int threads) {
  ConvWork dense{work.shape, {}, work.bias, work.has_relu};
  dense.blocks.vector = kVector;
  const bool has_lanes = nhwc_conv_fits(dense, kernels);
  dense.blocks = all_blocks(work, has_lanes ? kVector : 1);
  auto layer =
      has_lanes ? make_nhwc_conv(dense, kernels, threads) : make_nchw_conv(dense, kernels, threads);
  layer->family = "dense";
  layer->kernel =
      std::string("own ") + (has_lanes ? "nhwc " : "nchw ") + std::string(to_string(kernels.isa));
  return layer;
}

}  // namespace winnow
