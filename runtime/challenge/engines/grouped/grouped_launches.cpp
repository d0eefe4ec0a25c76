// What the engine `grouped` puts into its graph.
#include <algorithm>

#include "runtime/challenge/engines/gpu/image_places.h"
#include "runtime/challenge/engines/grouped/grouped_engine.h"
#include "runtime/challenge/engines/grouped/kernels/multilayer_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/two_layer_kernel.h"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kGroupsPerStripPanel = 256, kLongestStrip = 16;
// Images that move fill lines of memory together with those of the next tile. If tiles are so large
// that the cache does not hold a line until then, four of them are computed together. With smaller
// tiles that takes longer.
constexpr std::size_t kLargeTileBytes = std::size_t{16} << 20;
constexpr std::uint32_t kTileSetLog2 = 2;
// The first panel of a strip of two_layer_kernel has more to compute than the others.
constexpr std::uint32_t kGroupsPerTwoLayerPanel = 64, kShortestTwoLayerStrip = 8,
                        kLongestTwoLayerStrip = 16;
// Places of a tile that moves while there are many images: whole sectors of 32 bytes. A sector that
// is written in two halves has to be read as well.
constexpr std::uint32_t kSplitMultiple = 16;

}  // namespace

void GroupedEngine::enqueue(const Batch& batch) {
  CUDA_CHECK(cudaMemsetAsync(alive_.get(), 0, alive_.bytes(), stream()));
  State state;
  state.count = batch.size.get();
  for (std::uint32_t l = fuses_first_two_ ? 1 : 0; l < multilayer_from_; ++l)
    enqueue_layer(batch, l, state);
  for_each_multilayer_launch(
      [&](std::uint32_t first, std::uint32_t last) { enqueue_multilayer(first, last, state); });
}

std::uint32_t GroupedEngine::most_groups() const {
  const std::uint32_t before = network_.layer(network_.multilayer_begin() - 1).groups;
  return std::max(network_.multilayer().most_groups(), before);
}

void GroupedEngine::enqueue_multilayer(std::uint32_t first, std::uint32_t last, State& state) {
  const MultilayerWeights& weights = network_.multilayer();
  MultilayerLaunch launch;
  launch.layers = weights.views() + (first - network_.multilayer_begin());
  launch.count = last - first;
  launch.weight_terms = weights.weight_terms();
  launch.has_positive_bias = weights.has_positive_bias();
  launch.most_groups = most_groups();
  launch.in_rows = network_.layer(first - 1).groups * kGroupOutputs;
  launch.rows = network_.rows();
  launch.in = activations_[state.turn].get();
  launch.out = activations_[1 - state.turn].get();
  launch.images = counts_.get() + state.drops - 1;
  launch.number = numbers_.get();
  launch.alive = alive_.get() + state.drops * words_;
  launch_multilayer(launch, stream());
  state.turn = 1 - state.turn;
  state.count = launch.images;
  state.moves = {};
  drop_dead(launch.alive, last, state);
}

void GroupedEngine::enqueue_layer(const Batch& batch, std::uint32_t l, State& state) {
  GroupLaunch launch = layer_launch(batch, l, state);
  const bool drops_here = drops_after_layer(l);
  if (drops_here) launch.alive = alive_.get() + state.drops * words_;
  if (l == 1 && fuses_first_two_) {
    launch_two_layers({.first = network_.layer(0), .second = launch}, sms_, stream());
  } else {
    launch_group_layer(launch, sms_, stream());
  }
  if (state.moves.keep != nullptr) state.count = counts_.get() + state.drops - 1;
  state.moves = {};
  state.turn = 1 - state.turn;
  if (!drops_here) return;
  state.moves.multiple = launch.out_form == GroupForm::split ? kSplitMultiple : 2;
  drop_dead(launch.alive, l + 1, state);
}

void GroupedEngine::drop_dead(const std::uint32_t* alive, std::uint32_t done, State& state) {
  const bool is_last = done == layers(), for_multilayer = done >= multilayer_from_;
  std::uint32_t* const first = first_.get() + state.drops * words_;
  std::uint32_t* const ids = ids_[state.drops % 2].get();
  ImagePlaces places;
  places.words_per_tile = kWordsPerTile;
  places.multiple = for_multilayer ? 1 : state.moves.multiple;
  places.alive = alive;
  places.in_count = state.count;
  places.first = first;
  places.out_count = counts_.get() + state.drops;
  places.in_id = state.id;
  places.out_id = for_multilayer && !is_last ? ids : nullptr;
  places.out_number = for_multilayer && !is_last ? numbers_.get() : nullptr;
  places.live_bits = is_last ? live_bits() : nullptr;
  launch_image_places(places, stream());
  state.moves.keep = alive;
  state.moves.first = first;
  state.moves.in_id = state.id;
  state.moves.out_id = ids;
  state.id = ids;
  ++state.drops;
}

GroupLaunch GroupedEngine::layer_launch(const Batch& batch, std::uint32_t l,
                                        const State& state) const {
  const bool reads_bits = l == (fuses_first_two_ ? 1 : 0);
  GroupLaunch launch;
  launch.weights = network_.layer(l);
  launch.in_form = reads_bits ? GroupForm::bits : form_before(l);
  launch.out_form = form_before(l + 1);
  launch.rows = network_.rows();
  launch.bit_rows = neurons();
  launch.in = reads_bits ? batch.bits.get() : activations_[state.turn].get();
  launch.out = activations_[1 - state.turn].get();
  launch.count = state.count;
  launch.moves = state.moves;
  if (reads_bits && fuses_first_two_) {
    launch.order.strip_panels = std::clamp(launch.weights.groups / kGroupsPerTwoLayerPanel,
                                           kShortestTwoLayerStrip, kLongestTwoLayerStrip);
  } else if (launch.in_form != GroupForm::half) {
    launch.order.strip_panels =
        std::clamp(launch.weights.groups / kGroupsPerStripPanel, 1u, kLongestStrip);
    const std::size_t tile_bytes = std::size_t{launch.rows} * kSharedRowBytes;
    if (launch.moves.keep != nullptr && tile_bytes >= kLargeTileBytes)
      launch.order.tile_set_log2 = kTileSetLog2;
  }
  launch.order.is_reverse = l % 2 == 1 && !reads_bits;
  return launch;
}

}  // namespace winnow::challenge
