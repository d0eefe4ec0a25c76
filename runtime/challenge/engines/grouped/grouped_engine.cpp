// `grouped`: outputs that read the same inputs are computed together on tensor cores, one launch a
// layer, but for the first two layers and the last ones, if they fit, which go many to a launch;
// dead images are dropped on the way from one launch to the next; one CUDA graph.
#include <algorithm>

#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/graph_engine.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/challenge/engines/gpu/image_places.h"
#include "runtime/challenge/engines/gpu/layer_plan.h"
#include "runtime/challenge/engines/grouped/grouped_network.h"
#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/multilayer_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/two_layer_kernel.h"
#include "runtime/device/attribute.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kWordsPerTile = kGroupImages / 32;
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

// [tile][neuron][2 words] from [word][neuron].
std::vector<std::uint32_t> tiles_of_bits(const std::vector<std::uint32_t>& words,
                                         std::uint32_t neurons) {
  const std::size_t lines = words.size() / std::max(neurons, 1u);
  std::vector<std::uint32_t> tiles((lines + 1) / kWordsPerTile * kWordsPerTile * neurons);
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t n = 0; n < neurons; ++n) {
      tiles[(line / kWordsPerTile * neurons + n) * kWordsPerTile + line % kWordsPerTile] =
          words[line * neurons + n];
    }
  }
  return tiles;
}

class GroupedEngine : public GraphEngine {
 public:
  GroupedEngine(const Network& network, const EngineOptions& options)
      : GraphEngine(network, options),
        sms_(device_attribute(cudaDevAttrMultiProcessorCount, options.gpu)),
        half_from_(first_half_layer(options, network.neurons(), network.layers())),
        network_(network, multilayer_limits(std::max(half_from_, kFirstMultilayer)),
                 options.threads),
        multilayer_from_(network_.multilayer_begin()) {
    fuses_first_two_ = layers() > 1 && can_fuse_two_layers(network_.layer(0), network_.layer(1));
    for (std::uint32_t l = 0; l < multilayer_from_; ++l) drops_ += drops_after_layer(l) ? 1 : 0;
    for_each_multilayer_launch([this](std::uint32_t, std::uint32_t) { ++drops_; });
    counts_ = DeviceBuffer<std::uint32_t>(drops_);
  }

  std::string kernel() const override {
    std::string text = "mma.m16n8k16 on groups of outputs";
    if (half_from_ > 1) text += ", activations 2 x fp16";
    if (half_from_ < layers()) text += ", fp16 from layer " + std::to_string(half_from_);
    text += fuses_first_two_ ? ", one launch for the first two layers, then one a layer"
                             : ", one launch a layer";
    if (multilayer_from_ < layers()) {
      text += ", from layer " + std::to_string(multilayer_from_) + " on in shared memory";
    }
    return text + ", in one graph" + in_batches(per_batch_);
  }
  std::string discovery() const override { return network_.summary(); }
  double prepare_ms() const override { return network_.prepare_ms(); }

 protected:
  void upload(const SparseImages& images) override {
    drop_batches();
    for (auto& buffer : activations_) buffer = DeviceBuffer<std::uint32_t>();  // frees first
    per_batch_ = batch_size(images.images());
    const std::size_t tiles = (per_batch_ + kGroupImages - 1) / kGroupImages;
    for (auto& buffer : activations_) {
      buffer = DeviceBuffer<std::uint32_t>(tiles * kGroupImages * network_.rows());
      CUDA_CHECK(cudaMemsetAsync(buffer.get(), 0, buffer.bytes(), stream()));
    }
    for (auto& ids : ids_) ids = DeviceBuffer<std::uint32_t>(tiles * kGroupImages);
    if (multilayer_from_ < layers()) numbers_ = DeviceBuffer<std::uint32_t>(tiles * kGroupImages);
    words_ = tiles * kWordsPerTile + 2;  // a tile's bits may move across the end
    alive_ = DeviceBuffer<std::uint32_t>(words_ * drops_);
    first_ = DeviceBuffer<std::uint32_t>(words_ * drops_);
    record_batches(images, per_batch_, words_, [this](const std::vector<std::uint32_t>& words) {
      return tiles_of_bits(words, neurons());
    });
  }

 private:
  // How far the images are: which of them are in the next layer's input, with which ids.
  struct State {
    const std::uint32_t* count = nullptr;
    const std::uint32_t* id = nullptr;
    ImageMoves moves;  // what the next layer does on the way
    std::uint32_t drops = 0;
    int turn = 0;  // which activations are the next layer's input
  };

  std::uint32_t batch_size(std::uint32_t images) const {
    const std::size_t per_image =
        std::size_t{network_.rows()} * 2 * sizeof(std::uint32_t) + neurons() / 8 + 64;
    const std::uint32_t size =
        images_per_batch(images, per_image, usable_gpu_bytes(), options().images_at_once);
    return size == images ? size : std::max(size / kGroupImages, 1u) * kGroupImages;
  }

  GroupForm form_before(std::uint32_t l) const {
    return l >= half_from_ ? GroupForm::half : GroupForm::split;
  }

  bool drops_after_layer(std::uint32_t l) const {
    return grouped_drops_at(l + 1, layers(), multilayer_from_);
  }

  void enqueue(const Batch& batch) override {
    CUDA_CHECK(cudaMemsetAsync(alive_.get(), 0, alive_.bytes(), stream()));
    State state;
    state.count = batch.size.get();
    for (std::uint32_t l = fuses_first_two_ ? 1 : 0; l < multilayer_from_; ++l)
      enqueue_layer(batch, l, state);
    for_each_multilayer_launch(
        [&](std::uint32_t first, std::uint32_t last) { enqueue_multilayer(first, last, state); });
  }

  static MultilayerLimits multilayer_limits(std::uint32_t from) {
    return {.from = from, .most_groups = {most_multilayer_groups(1), most_multilayer_groups(2)}};
  }

  // Of the layers that multilayer_kernel computes and the one before them.
  std::uint32_t most_groups() const {
    const std::uint32_t before = network_.layer(network_.multilayer_begin() - 1).groups;
    return std::max(network_.multilayer().most_groups(), before);
  }

  // Calls use(first, last) for the layers of each launch of multilayer_kernel. Every launch drops
  // dead images, which are ever fewer, so launches get longer.
  template <typename Use>
  void for_each_multilayer_launch(Use use) const {
    constexpr std::uint32_t kShortest = 3, kGrowth = 3;
    std::uint32_t length = kShortest;
    for (std::uint32_t first = multilayer_from_; first < layers(); length *= kGrowth) {
      const std::uint32_t last = std::min(layers(), first + length);
      use(first, last);
      first = last;
    }
  }

  void enqueue_multilayer(std::uint32_t first, std::uint32_t last, State& state) {
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

  void enqueue_layer(const Batch& batch, std::uint32_t l, State& state) {
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

  // After the first `done` layers: finds places for the images that are alive. The next launch
  // moves them there; multilayer_kernel leaves it to us to move their ids.
  void drop_dead(const std::uint32_t* alive, std::uint32_t done, State& state) {
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

  GroupLaunch layer_launch(const Batch& batch, std::uint32_t l, const State& state) const {
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

  static constexpr std::uint32_t kFirstMultilayer = 2;  // the first layers read bits

  int sms_;
  std::uint32_t half_from_;
  GroupedNetwork network_;
  std::uint32_t multilayer_from_;  // layers from here on are for multilayer_kernel
  bool fuses_first_two_ = false;   // the first two layers are one launch
  std::uint32_t drops_ = 0;        // how often dead images are dropped
  std::uint32_t per_batch_ = 0;
  std::size_t words_ = 0;                       // of 32 images, for one drop
  DeviceBuffer<std::uint32_t> activations_[2];  // wide enough for two halves
  DeviceBuffer<std::uint32_t> ids_[2];
  DeviceBuffer<std::uint32_t> numbers_;        // what multilayer_kernel reads
  DeviceBuffer<std::uint32_t> counts_;         // [drop]: images left
  DeviceBuffer<std::uint32_t> alive_, first_;  // [drop][word]
};

}  // namespace

std::unique_ptr<Engine> make_grouped_engine(const Network& network, const EngineOptions& options) {
  return std::make_unique<GroupedEngine>(network, options);
}

}  // namespace winnow::challenge
