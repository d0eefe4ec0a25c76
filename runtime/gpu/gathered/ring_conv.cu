#include "runtime/gpu/gathered/ring_conv.h"

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/device/cuda_check.h"
#include "runtime/gpu/gathered/ring_kernel.cuh"
#include "runtime/gpu/gathered/tensor_map.h"

namespace winnow {
namespace {

using Kernel = void (*)(CUtensorMap, RingArguments);

struct Compiled {
  RingTile tile;
  int pitch = 0;  // 0: any box
  int threads = 0;
  Kernel kernel = nullptr;
};

template <class Form>
Compiled compiled() {
  return {{Form::kHeight, Form::kWidth, Form::kGroups, Form::kStages},
          Form::kPitch,
          Form::kThreads,
          ring_kernel<Form>};
}

// Those of a fixed pitch before the general one of the same tile.
const std::vector<Compiled>& all_compiled() {
  static const std::vector<Compiled> all = {
      compiled<RingForm<4, 7, 8, 8, 4, 6, 9>>(),  compiled<RingForm<4, 7, 8, 8, 4, 6, 0>>(),
      compiled<RingForm<4, 7, 11, 8, 3, 4, 9>>(), compiled<RingForm<4, 7, 11, 8, 3, 4, 7>>(),
      compiled<RingForm<4, 7, 11, 8, 3, 4, 0>>(), compiled<RingForm<4, 4, 11, 8, 4, 4, 0>>(),
      compiled<RingForm<2, 4, 11, 8, 4, 2, 0>>(), compiled<RingForm<1, 8, 11, 8, 4, 2, 0>>()};
  return all;
}

bool has_unit_strides(const Conv& conv) {
  return conv.stride[0] == 1 && conv.stride[1] == 1;
}

const Compiled& kernel_for(const RingTile& tile, const RingBox& box, const Conv& conv) {
  for (const Compiled& candidate : all_compiled()) {
    const bool fits =
        candidate.pitch == 0 || (candidate.pitch == box.width && has_unit_strides(conv));
    if (candidate.tile == tile && fits) return candidate;
  }
  fail(ErrorCode::internal, "no kernel for ", to_string(tile));
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

void check(const RingLayer& layer, const ActivationView& in, const ActivationView& out) {
  const auto require = [](bool is_true, const char* what) {
    if (!is_true) fail(ErrorCode::usage, "ring_conv: ", what);
  };
  const ActivationFormat format{.layout = Layout::nchw32c8n, .precision = Precision::f16};
  require(in.format == format && out.format == format, "input or output is not nchw32c8n f16");
  require(in.size.c == layer.conv.in_channels && out.size.c == layer.conv.out_channels &&
              in.size.n == out.size.n,
          "images or channels do not fit");
}

RingArguments arguments_for(const RingLayer& layer, const RingBox& box, const ActivationView& in,
                            const ActivationView& out) {
  const Conv& conv = layer.conv;
  RingArguments a;
  a.records = layer.records.get();
  a.batches = layer.batches.get();
  a.stage_begin = layer.stage_begin.get();
  a.stage_block = layer.stage_block.get();
  a.place = layer.place.get();
  a.bias = layer.bias.get();
  a.out = static_cast<__half*>(out.data);
  a.groups = static_cast<int>(layer.groups);
  a.parts = layer.parts;
  a.capacity = static_cast<int>(layer.capacity);
  a.input_blocks = static_cast<int>(ceil_div(in.size.c, kStageChannels));
  a.output_blocks = static_cast<int>(ceil_div(out.size.c, kStageChannels));
  a.height = static_cast<int>(out.size.h);
  a.width = static_cast<int>(out.size.w);
  a.tiles_x = static_cast<int>(ceil_div(out.size.w, layer.tile.width));
  a.tiles_y = static_cast<int>(ceil_div(out.size.h, layer.tile.height));
  a.tiles = a.tiles_x * a.tiles_y * static_cast<int>(ceil_div(out.size.n, kGatheredImages));
  a.stride_y = static_cast<int>(conv.stride[0]);
  a.stride_x = static_cast<int>(conv.stride[1]);
  a.padding_y = static_cast<int>(conv.padding[0]);
  a.padding_x = static_cast<int>(conv.padding[1]);
  constexpr int kPixelBytes = kStageChannels * kRowBytes;
  a.stage_bytes = static_cast<std::uint32_t>(box.rows() * kRowBytes);
  a.row_step = static_cast<std::uint32_t>(a.stride_y * box.width * kPixelBytes);
  a.column_step = static_cast<std::uint32_t>(a.stride_x * kPixelBytes);
  a.pair_step = layer.tile.height % 2 == 0
                    ? static_cast<std::uint32_t>(layer.tile.height / 2) * a.row_step
                    : static_cast<std::uint32_t>(layer.tile.width / 2) * a.column_step;
  a.least = layer.has_relu ? 0.0f : -std::numeric_limits<float>::infinity();
  return a;
}

}  // namespace

RingLayer upload_ring_layer(const RingWeights& weights, std::span<const float> bias,
                            const Conv& conv, const RingTile& tile, bool has_relu) {
  std::vector<float> biases(weights.place.size(), 0.0f);
  for (std::size_t row = 0; row < biases.size(); ++row) {
    if (weights.place[row] >= 0) biases[row] = bias[static_cast<std::size_t>(weights.place[row])];
  }
  RingLayer layer;
  layer.conv = conv;
  layer.tile = tile;
  layer.has_relu = has_relu;
  layer.groups = weights.groups;
  layer.capacity = weights.capacity;
  layer.parts = static_cast<int>(weights.stage_begin.size()) - 1;
  layer.records = upload(weights.records);
  layer.batches = upload(weights.batches);
  layer.stage_begin = upload(weights.stage_begin);
  layer.stage_block = upload(weights.stage_block);
  layer.place = upload(weights.place);
  layer.bias = upload(biases);
  return layer;
}

std::vector<RingTile> ring_tiles(const Conv& conv, std::int64_t most_shared_bytes) {
  std::vector<RingTile> tiles;
  for (const Compiled& candidate : all_compiled()) {
    if (std::ranges::find(tiles, candidate.tile) != tiles.end()) continue;
    if (is_valid(candidate.tile, box_of(candidate.tile, conv), most_shared_bytes)) {
      tiles.push_back(candidate.tile);
    }
  }
  return tiles;
}

void ring_conv(const RingLayer& layer, const ActivationView& in, const ActivationView& out, int sms,
               cudaStream_t stream) {
  check(layer, in, out);
  const RingBox box = box_of(layer.tile, layer.conv);
  const Compiled& compiled = kernel_for(layer.tile, box, layer.conv);
  const RingArguments arguments = arguments_for(layer, box, in, out);
  if (arguments.tiles == 0 || layer.groups == 0) return;
  const CUtensorMap map = tensor_map(in, box);
  const auto bytes = static_cast<std::size_t>(shared_bytes(layer.tile, box));
  CUDA_CHECK(cudaFuncSetAttribute(compiled.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  const int together = std::max(1, std::min(sms / layer.parts, arguments.tiles));
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(together * layer.parts));
  config.blockDim = dim3(static_cast<unsigned>(compiled.threads));
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, compiled.kernel, map, arguments));
}

}  // namespace winnow
