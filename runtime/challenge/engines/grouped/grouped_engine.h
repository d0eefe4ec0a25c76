// The engine `grouped`: outputs that read the same inputs are computed together on tensor cores,
// one launch a layer, but for the first two layers and the last ones, if they fit, which go many to
// a launch; dead images are dropped on the way from one launch to the next; one CUDA graph.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/challenge/engines/gpu/graph_engine.h"
#include "runtime/challenge/engines/gpu/layer_plan.h"
#include "runtime/challenge/engines/grouped/grouped_network.h"
#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

namespace winnow::challenge {

class GroupedEngine : public GraphEngine {
 public:
  GroupedEngine(const Network& network, const EngineOptions& options);

  std::string kernel() const override;
  std::string discovery() const override { return network_.summary(); }
  double prepare_ms() const override { return network_.prepare_ms(); }

 protected:
  void upload(const SparseImages& images) override;
  void enqueue(const Batch& batch) override;

 private:
  static constexpr std::uint32_t kWordsPerTile = kGroupImages / 32;

  // How far the images are: which of them are in the next layer's input, with which ids.
  struct State {
    const std::uint32_t* count = nullptr;
    const std::uint32_t* id = nullptr;
    ImageMoves moves;  // what the next layer does on the way
    std::uint32_t drops = 0;
    int turn = 0;  // which activations are the next layer's input
  };

  std::uint32_t batch_size(std::uint32_t images) const;  // images that run at a time

  // How the activations that layer l reads are stored.
  GroupForm form_before(std::uint32_t l) const {
    return l >= half_from_ ? GroupForm::half : GroupForm::split;
  }

  bool drops_after_layer(std::uint32_t l) const {
    return grouped_drops_at(l + 1, layers(), multilayer_from_);
  }

  // Of the layers that multilayer_kernel computes and the one before them.
  std::uint32_t most_groups() const;

  // Calls use(first, last) for the layers of each launch of multilayer_kernel. Every launch drops
  // dead images, which are ever fewer, so launches get longer.
  template <typename Use>
  void for_each_multilayer_launch(Use use) const;

  // Each goes on from `state`.
  void enqueue_layer(const Batch& batch, std::uint32_t l, State& state);
  void enqueue_multilayer(std::uint32_t first, std::uint32_t last, State& state);

  // After the first `done` layers: finds places for the images that are alive. The next launch
  // moves them there; multilayer_kernel leaves it to us to move their ids.
  void drop_dead(const std::uint32_t* alive, std::uint32_t done, State& state);

  // Layer l from `state` on; all but where the live images' bits go.
  GroupLaunch layer_launch(const Batch& batch, std::uint32_t l, const State& state) const;

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

template <typename Use>
void GroupedEngine::for_each_multilayer_launch(Use use) const {
  constexpr std::uint32_t kShortest = 3, kGrowth = 3;
  std::uint32_t length = kShortest;
  for (std::uint32_t first = multilayer_from_; first < layers(); length *= kGrowth) {
    const std::uint32_t last = std::min(layers(), first + length);
    use(first, last);
    first = last;
  }
}

}  // namespace winnow::challenge
