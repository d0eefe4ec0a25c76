#include "runtime/challenge/network.h"

#include "runtime/base/error.h"

namespace winnow::challenge {

namespace {

LayerShape shape_of(const SparseLayer& layer) {
  return {layer.inputs, layer.outputs(), layer.connections()};
}

}  // namespace

LayerShape Network::shape(std::uint32_t l) const {
  return shape_of(layer(l));
}

MemoryNetwork::MemoryNetwork(std::string name, std::vector<SparseLayer> layers)
    : name_(std::move(name)), layers_(std::move(layers)) {
  if (layers_.empty()) fail(ErrorCode::usage, name_, ": a network needs at least one layer");
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    check_layer(layers_[l], name_ + ": layer " + std::to_string(l));
    if (l > 0) check_follows(layers_[l - 1], layers_[l], l, name_);
  }
}

std::uint64_t MemoryNetwork::connections() const {
  std::uint64_t sum = 0;
  for (const SparseLayer& layer : layers_) sum += layer.connections();
  return sum;
}

LayerShape MemoryNetwork::shape(std::uint32_t l) const {
  return shape_of(at(l));
}

const SparseLayer& MemoryNetwork::at(std::uint32_t l) const {
  if (l >= layers_.size()) fail(ErrorCode::usage, name_, ": there is no layer ", l);
  return layers_[l];
}

LayerRange::LayerRange(const Network& whole, std::uint32_t first, std::uint32_t last)
    : whole_(whole), first_(first), last_(last) {
  if (first >= last || last > whole.layers()) {
    fail(ErrorCode::usage, "layers ", first, " to ", last, " of ", whole.name(),
         ": expected first < last <= ", whole.layers());
  }
  if (first == 0 && last == whole.layers()) {
    neurons_ = whole.neurons();
    connections_ = whole.connections();
    return;
  }
  for (std::uint32_t l = first; l < last; ++l) {
    const LayerShape shape = whole.shape(l);
    if (l == first) neurons_ = shape.inputs;
    connections_ += shape.connections;
  }
}

std::string LayerRange::name() const {
  return whole_.name() + ", layers " + std::to_string(first_) + " to " + std::to_string(last_);
}

std::uint32_t LayerRange::in_whole(std::uint32_t l) const {
  if (l >= layers()) fail(ErrorCode::usage, name(), ": there is no layer ", l);
  return first_ + l;
}

}  // namespace winnow::challenge
