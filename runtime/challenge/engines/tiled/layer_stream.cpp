#include "runtime/challenge/engines/tiled/layer_stream.h"

#include <algorithm>
#include <cstring>

namespace winnow::challenge {
namespace {

std::size_t words_of(const SparseLayer& layer) {
  return layer.row_begin.size() + layer.input.size() + layer.value.size() + layer.bias.size();
}

template <typename T>
std::uint32_t* append(const std::vector<T>& values, std::uint32_t* to) {
  static_assert(sizeof(T) == sizeof(std::uint32_t));
  if (!values.empty()) std::memcpy(to, values.data(), values.size() * sizeof(T));
  return to + values.size();
}

void pack(const SparseLayer& layer, std::uint32_t* words) {
  append(layer.bias, append(layer.value, append(layer.input, append(layer.row_begin, words))));
}

LayerView view_of_packed(const SparseLayer& layer, const std::uint32_t* words) {
  const std::uint32_t* input = words + layer.row_begin.size();
  const std::uint32_t* value = input + layer.input.size();
  return {.inputs = layer.inputs,
          .outputs = layer.outputs(),
          .row_begin = words,
          .input = input,
          .value = reinterpret_cast<const float*>(value),
          .bias = reinterpret_cast<const float*>(value + layer.value.size())};
}

}  // namespace

LayerStream::LayerStream(const Network& network) {
  std::size_t most = 0;
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    layers_.push_back(network.layer(l));
    most = std::max(most, words_of(layers_.back()));
  }
  for (Slot& slot : slots_) {
    slot.pinned = PinnedBuffer<std::uint32_t>(most);
    slot.words = DeviceBuffer<std::uint32_t>(most);
  }
}

std::uint32_t LayerStream::width() const {
  std::uint32_t most = 0;
  for (const SparseLayer& layer : layers_) most = std::max({most, layer.inputs, layer.outputs()});
  return most;
}

void LayerStream::restart() {
  position_ = 0;
  start_copy(0);
  start_copy(1);
}

LayerView LayerStream::current(cudaStream_t stream) const {
  CUDA_CHECK(cudaStreamWaitEvent(stream, slot(position_).copied.get()));
  return view_of_packed(layer(position_), slot(position_).words.get());
}

void LayerStream::advance(std::span<const Stream> streams) {
  // A wait is for what was recorded before it, so that one event serves all streams.
  for (const Stream& stream : streams) {
    slot(position_).used.record(stream.get());
    slot(position_).used.hold(stream_.get());
  }
  start_copy(position_ + 2);
  ++position_;
}

void LayerStream::start_copy(std::size_t position) {
  Slot& to = slot(position);
  to.copied.synchronize();  // the pinned memory's last layer has left it
  const SparseLayer& from = layer(position);
  pack(from, to.pinned.values().data());
  CUDA_CHECK(cudaMemcpyAsync(to.words.get(), to.pinned.values().data(),
                             words_of(from) * sizeof(std::uint32_t), cudaMemcpyHostToDevice,
                             stream_.get()));
  to.copied.record(stream_.get());
}

}  // namespace winnow::challenge
