// The networks of the Sparse DNN Graph Challenge: sequences of sparse linear layers.
//
//   Y' = min(32, max(0, Z + b where Z != 0)),  Z = Y W        (Y is [images, neurons])
//
// after Kepner et al., "Sparse Deep Neural Network Graph Challenge", HPEC 2019. An image whose
// values are all zero stays so to the end: a dead row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sparse/sparse_layer.h"

namespace winnow::challenge {

inline constexpr float kLargestActivation = 32;

struct LayerShape {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::uint32_t connections = 0;
};

class Network : public LayerSource {
 public:
  virtual std::string name() const = 0;           // "1024 neurons, 120 layers in DIR"
  virtual std::uint64_t connections() const = 0;  // of all layers

  // Of layer l; throws as layer(). May read it.
  virtual LayerShape shape(std::uint32_t l) const;
};

// A network that is held in memory. Throws Error{usage} if a layer is malformed or does not take
// as many inputs as the one before has outputs.
class MemoryNetwork : public Network {
 public:
  MemoryNetwork(std::string name, std::vector<SparseLayer> layers);

  std::string name() const override { return name_; }
  std::uint32_t neurons() const override { return layers_.front().inputs; }
  std::uint32_t layers() const override { return static_cast<std::uint32_t>(layers_.size()); }
  std::uint64_t connections() const override;
  SparseLayer layer(std::uint32_t l) const override { return at(l); }
  void read(std::uint32_t l, SparseLayer& into) const override { into = at(l); }
  LayerShape shape(std::uint32_t l) const override;

 private:
  const SparseLayer& at(std::uint32_t l) const;

  std::string name_;
  std::vector<SparseLayer> layers_;  // at least one
};

// The layers [first, last) of another network, which must outlive it.
// Throws Error{usage} unless first < last <= layers.
class LayerRange : public Network {
 public:
  LayerRange(const Network& whole, std::uint32_t first, std::uint32_t last);

  std::string name() const override;
  std::uint32_t neurons() const override { return neurons_; }
  std::uint32_t layers() const override { return last_ - first_; }
  std::uint64_t connections() const override { return connections_; }
  SparseLayer layer(std::uint32_t l) const override { return whole_.layer(in_whole(l)); }
  void read(std::uint32_t l, SparseLayer& into) const override { whole_.read(in_whole(l), into); }
  LayerShape shape(std::uint32_t l) const override { return whole_.shape(in_whole(l)); }

 private:
  std::uint32_t in_whole(std::uint32_t l) const;

  const Network& whole_;
  std::uint32_t first_;
  std::uint32_t last_;
  std::uint32_t neurons_ = 0;
  std::uint64_t connections_ = 0;
};

}  // namespace winnow::challenge
