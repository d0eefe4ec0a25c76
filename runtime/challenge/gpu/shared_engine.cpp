// `shared`: outputs that read the same inputs are computed together on tensor cores, one launch a
// layer; dead images are dropped on the way from one layer to the next; one CUDA graph.
#include <algorithm>
#include <bit>

#include "runtime/challenge/gpu/engine_makers.h"
#include "runtime/challenge/gpu/fused_engines.h"
#include "runtime/challenge/gpu/fused_plan.h"
#include "runtime/challenge/gpu/graph_engine.h"
#include "runtime/challenge/gpu/group_kernel.h"
#include "runtime/challenge/gpu/grouped_network.h"
#include "runtime/challenge/gpu/image_parts.h"
#include "runtime/challenge/gpu/image_places.h"
#include "runtime/challenge/gpu/pair_kernel.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kWordsPerTile = kGroupImages / 32;
constexpr std::uint32_t kGroupsPerRun = 256, kLongestRun = 4;
// Places of a tile that moves while there are many images: whole sectors of 32 bytes. Where one is
// written in two halves, it costs a read (measured: half of the time of the first layers).
constexpr std::uint32_t kSplitMultiple = 16;
constexpr std::size_t kSpareBytes = std::size_t{1} << 30;

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

// How dead images are dropped after a layer: the next one moves the others.
struct Drop {
  const std::uint32_t* alive = nullptr;
  std::uint32_t* first = nullptr;
  std::uint32_t multiple = 2;
  const std::uint32_t* in_id = nullptr;
  std::uint32_t* out_id = nullptr;
};

class SharedEngine : public GraphEngine {
 public:
  SharedEngine(const Network& network, const EngineOptions& options)
      : GraphEngine(network, options),
        processors_(device_attribute(cudaDevAttrMultiProcessorCount, options.gpu)),
        half_from_(first_half_layer(options, network.neurons(), network.layers())),
        network_(network, options.threads) {
    is_paired_ = layers() > 1 && can_pair(network_.layer(0), network_.layer(1));
    for (std::uint32_t l = 0; l < layers(); ++l) drops_ += drops_after_layer(l) ? 1 : 0;
    counts_ = DeviceBuffer<std::uint32_t>(drops_);
  }

  std::string kernel() const override {
    std::string text = "mma.m16n8k16 on groups of outputs";
    if (half_from_ > 1) text += ", activations 2 x fp16";
    if (half_from_ < layers()) text += ", fp16 from layer " + std::to_string(half_from_);
    text += is_paired_ ? ", one launch for the first two layers, then one a layer"
                       : ", one launch a layer";
    return text + ", in one graph" + in_parts(per_part_);
  }
  std::string discovery() const override { return network_.summary(); }
  double prepare_ms() const override { return network_.prepare_ms(); }

 protected:
  void upload(const SparseImages& images) override {
    drop_parts();
    for (auto& buffer : activations_) buffer = DeviceBuffer<std::uint32_t>();
    per_part_ = part_size(images.images());
    const std::size_t tiles = (per_part_ + kGroupImages - 1) / kGroupImages;
    for (auto& buffer : activations_) {
      buffer = DeviceBuffer<std::uint32_t>(tiles * kGroupImages * network_.rows());
      CUDA_CHECK(cudaMemsetAsync(buffer.get(), 0, buffer.bytes(), stream()));
    }
    for (auto& ids : ids_) ids = DeviceBuffer<std::uint32_t>(tiles * kGroupImages);
    words_ = tiles * kWordsPerTile + 2;  // a tile's bits may move across the end
    alive_ = DeviceBuffer<std::uint32_t>(words_ * drops_);
    first_ = DeviceBuffer<std::uint32_t>(words_ * drops_);
    record_parts(images, per_part_, words_, [this](const std::vector<std::uint32_t>& words) {
      return tiles_of_bits(words, neurons());
    });
  }

 private:
  std::uint32_t part_size(std::uint32_t images) const {
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    free = free > kSpareBytes ? free - kSpareBytes : 0;
    const std::size_t per_image =
        std::size_t{network_.rows()} * 2 * sizeof(std::uint32_t) + neurons() / 8 + 64;
    const std::uint32_t size = images_per_part(images, per_image, free, options().images_at_once);
    return size == images ? size : std::max(size / kGroupImages, 1u) * kGroupImages;
  }

  GroupForm form_before(std::uint32_t l) const {
    return l >= half_from_ ? GroupForm::half : GroupForm::split;
  }

  // Most images die in the first layers, but after the very first too few for whole sectors; later
  // on a drop costs as much as a layer.
  bool drops_after_layer(std::uint32_t l) const {
    constexpr std::uint32_t kEach = 10;
    const std::uint32_t done = l + 1;
    if (done == layers()) return true;
    return done > 1 && (done <= kEach || done == 12 || std::has_single_bit(done));
  }

  // How far the images are: which of them are in the next layer's input, under which names.
  struct State {
    const std::uint32_t* count = nullptr;
    const std::uint32_t* id = nullptr;
    Drop drop;  // what the next layer does on the way
    std::uint32_t drops = 0;
  };

  void enqueue(const Part& part) override {
    CUDA_CHECK(cudaMemsetAsync(alive_.get(), 0, alive_.bytes(), stream()));
    State state;
    state.count = part.size.get();
    for (std::uint32_t l = is_paired_ ? 1 : 0; l < layers(); ++l) enqueue_layer(part, l, state);
  }

  void enqueue_layer(const Part& part, std::uint32_t l, State& state) {
    GroupLaunch launch = layer_launch(part, l, state);
    const bool drops_here = drops_after_layer(l);
    if (drops_here) launch.alive = alive_.get() + state.drops * words_;
    if (l == 1 && is_paired_) {
      launch_pair({.first = network_.layer(0), .second = launch}, processors_, stream());
    } else {
      launch_group_layer(launch, processors_, stream());
    }
    if (state.drop.alive != nullptr) state.count = counts_.get() + state.drops - 1;
    state.drop = {};
    if (!drops_here) return;
    state.drop = {.alive = launch.alive,
                  .first = first_.get() + state.drops * words_,
                  .multiple = launch.out_form == GroupForm::split ? kSplitMultiple : 2,
                  .in_id = state.id,
                  .out_id = ids_[state.drops % 2].get()};
    place_live(state.drop, state.count, counts_.get() + state.drops, l + 1 == layers());
    state.id = state.drop.out_id;
    ++state.drops;
  }

  GroupLaunch layer_launch(const Part& part, std::uint32_t l, const State& state) const {
    const bool reads_bits = l == (is_paired_ ? 1 : 0);
    GroupLaunch launch;
    launch.weights = network_.layer(l);
    launch.in_form = reads_bits ? GroupForm::bits : form_before(l);
    launch.out_form = form_before(l + 1);
    launch.rows = network_.rows();
    launch.bit_rows = neurons();
    launch.in = reads_bits ? part.bits.get() : activations_[l % 2].get();
    launch.out = activations_[(l + 1) % 2].get();
    launch.count = state.count;
    launch.keep = state.drop.alive;
    launch.first = state.drop.first;
    launch.multiple = state.drop.multiple;
    launch.in_id = state.drop.in_id;
    launch.out_id = state.drop.out_id;
    if (launch.in_form != GroupForm::half) {
      launch.run = std::clamp(launch.weights.groups / kGroupsPerRun, 1u, kLongestRun);
    }
    launch.is_reverse = l % 2 == 1 && !reads_bits;
    return launch;
  }

  void place_live(const Drop& drop, const std::uint32_t* count, std::uint32_t* kept, bool is_last) {
    ImagePlaces places;
    places.words_per_tile = kWordsPerTile;
    places.multiple = drop.multiple;
    places.alive = drop.alive;
    places.in_count = count;
    places.first = drop.first;
    places.out_count = kept;
    places.in_id = drop.in_id;
    places.live_bits = is_last ? live_bits() : nullptr;
    launch_image_places(places, stream());
  }

  int processors_;
  std::uint32_t half_from_;
  GroupedNetwork network_;
  bool is_paired_ = false;   // the first two layers are one launch
  std::uint32_t drops_ = 0;  // how often dead images are dropped
  std::uint32_t per_part_ = 0;
  std::size_t words_ = 0;                       // of 32 images, for one drop
  DeviceBuffer<std::uint32_t> activations_[2];  // wide enough for two halfs
  DeviceBuffer<std::uint32_t> ids_[2];
  DeviceBuffer<std::uint32_t> counts_;         // [drop]: images left
  DeviceBuffer<std::uint32_t> alive_, first_;  // [drop][word]
};

}  // namespace

std::unique_ptr<Engine> make_shared_engine(const Network& network, const EngineOptions& options) {
  return std::make_unique<SharedEngine>(network, options);
}

}  // namespace winnow::challenge
