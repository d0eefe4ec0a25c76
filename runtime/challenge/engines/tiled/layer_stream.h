// Layers on their way from host to device memory while others are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/engines/tiled/tiled_layer.h"
#include "runtime/challenge/network.h"
#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"

namespace winnow::challenge {

// Gives the layers of a network one after the other, around and around, two of them in page-locked
// and in device memory at a time: while one is used, the next is copied on a stream of its own.
class LayerStream {
 public:
  // Keeps all layers in host memory.
  explicit LayerStream(const Network& network);

  // The most neurons that a layer takes or gives.
  std::uint32_t width() const;

  // Begins at the first layer: starts the copies of the first two. Requires that the device is
  // idle.
  void restart();

  // The current layer; work that is put on `stream` from now on finds it there.
  LayerView current(cudaStream_t stream) const;

  // Goes on: the current layer's memory gets the next but one, once what is on `streams` is done.
  // Blocks while the host copies it to page-locked memory.
  void advance(std::span<const Stream> streams);

 private:
  struct Slot {
    PinnedBuffer<std::uint32_t> pinned;
    DeviceBuffer<std::uint32_t> words;  // row_begin, input, value, bias
    Event copied;                       // from `pinned` to `words`
    Event used;
  };

  const SparseLayer& layer(std::size_t position) const {
    return layers_[position % layers_.size()];
  }
  Slot& slot(std::size_t position) { return slots_[position % 2]; }
  const Slot& slot(std::size_t position) const { return slots_[position % 2]; }
  void start_copy(std::size_t position);

  std::vector<SparseLayer> layers_;
  std::size_t position_ = 0;  // of the current layer, counting on over rounds
  Stream stream_;
  Slot slots_[2];
};

}  // namespace winnow::challenge
