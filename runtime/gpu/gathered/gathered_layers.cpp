#include "runtime/gpu/gathered/gathered_layers.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "runtime/gpu/gathered/resident_conv.h"
#include "runtime/gpu/gathered/ring_conv.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostResidentSide = 32;  // pixels of an output; larger maps are the ring's

// What is added to the convolution of input `conv_input`; null if nothing is.
const ActivationView* addend_of(std::span<const ActivationView> in, std::size_t conv_input) {
  return in.size() > 1 ? &in[1 - conv_input] : nullptr;
}

class RingPrepared : public PreparedLayer {
 public:
  RingPrepared(RingLayer layer, std::size_t conv_input, int sms)
      : layer_(std::move(layer)),
        conv_input_(conv_input),
        sms_(sms),
        loads_(best_gathered_loads()) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    ring_conv(layer_, in[conv_input_], addend_of(in, conv_input_), out, sms_, loads_, stream);
  }

 private:
  RingLayer layer_;
  std::size_t conv_input_;
  int sms_;
  GatheredLoads loads_;
};

class ResidentPrepared : public PreparedLayer {
 public:
  ResidentPrepared(ResidentLayer layer, std::size_t conv_input)
      : layer_(std::move(layer)), conv_input_(conv_input), loads_(best_gathered_loads()) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    resident_conv(layer_, in[conv_input_], addend_of(in, conv_input_), out, loads_, stream);
  }

 private:
  ResidentLayer layer_;
  std::size_t conv_input_;
  GatheredLoads loads_;
};

double columns_of(const GatheredGroups& groups) {
  const std::int64_t count = std::max<std::int64_t>(1, groups.weight.rows());
  return static_cast<double>(groups.weight.blocks()) / static_cast<double>(count);
}

RingWork ring_work(const GatheredLayer& layer, const GpuContext& gpu) {
  return {.conv = layer.conv,
          .pool = layer.pool,
          .adds = layer.adds,
          .in = layer.in,
          .groups = layer.groups.weight.rows(),
          .columns = columns_of(layer.groups),
          .sms = gpu.sms(),
          .most_shared_bytes = static_cast<std::int64_t>(gpu.shared_bytes_per_block())};
}

std::vector<RingTile> ring_tiles(const GatheredLayer& layer, const GpuContext& gpu,
                                 std::size_t most) {
  if (layer.in.n < layer.fewest_ring_images || !ring_missing_reason().empty()) return {};
  const RingWork work = ring_work(layer, gpu);
  return most == kAllTiles ? all_ring_tiles(work) : best_ring_tiles(work, most);
}

ResidentWork resident_work(const GatheredLayer& layer) {
  return {.conv = layer.conv,
          .in = layer.in,
          .out = conv_output(layer.conv, layer.in),
          .kept_columns = std::lround(columns_of(layer.groups)),
          .pools = layer.pool != RingPool::none};
}

std::vector<ResidentTile> tiles_of_small_maps(const GatheredLayer& layer, std::size_t most) {
  const ResidentWork work = resident_work(layer);
  if (work.out.h > kMostResidentSide || work.out.w > kMostResidentSide) return {};
  return most == kAllTiles ? valid_resident_tiles(work, resident_limits())
                           : resident_tiles(work, resident_limits(), most);
}

NamedLayer prepare(const GatheredLayer& layer, const RingTile& tile, const GpuContext& gpu) {
  RingWeights weights = pack_for_ring(layer.groups, layer.conv, tile, layer.input_place,
                                      layer.output_place, layer.adds);
  RingLayer uploaded = upload_ring_layer(
      std::move(weights), layer.bias, {layer.conv, tile, layer.has_relu, layer.pool, layer.adds});
  return {to_string(tile),
          std::make_shared<const RingPrepared>(std::move(uploaded), layer.conv_input, gpu.sms()),
          ring_clocks(ring_work(layer, gpu), tile)};
}

NamedLayer prepare(const GatheredLayer& layer, const ResidentTile& tile) {
  const Extents out = conv_output(layer.conv, layer.in);
  const ResidentConvWeights weights = pack_for_resident(
      layer.groups, layer.conv, tile, resident_geometry(tile, layer.conv, layer.in, out),
      layer.input_place, layer.output_place);
  ResidentLayer uploaded =
      upload_resident_layer(weights, layer.bias, layer.conv, tile, layer.in, out,
                            {.has_relu = layer.has_relu, .pool = layer.pool});
  return {to_string(tile),
          std::make_shared<const ResidentPrepared>(std::move(uploaded), layer.conv_input),
          resident_clocks(resident_work(layer), tile, resident_limits())};
}

}  // namespace

std::vector<NamedLayer> gathered_layers(const GatheredLayer& layer, const GpuContext& gpu,
                                        std::size_t most) {
  std::vector<NamedLayer> layers;
  for (const RingTile& tile : ring_tiles(layer, gpu, most)) {
    layers.push_back(prepare(layer, tile, gpu));
  }
  for (const ResidentTile& tile : tiles_of_small_maps(layer, most)) {
    layers.push_back(prepare(layer, tile));
  }
  return layers;
}

bool has_gathered_layers(const GatheredLayer& layer, const GpuContext& gpu) {
  return !ring_tiles(layer, gpu, 1).empty() || !tiles_of_small_maps(layer, 1).empty();
}

}  // namespace winnow
