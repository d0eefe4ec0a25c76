// The networks of the Sparse DNN Graph Challenge: stacks of sparse linear layers.
//
//   Y' = min(32, max(0, Z + b where Z != 0)),  Z = Y W        (Y is [images, neurons])
//
// after Kepner et al., "Sparse Deep Neural Network Graph Challenge", HPEC 2019. An image whose
// values are all zero stays so to the end: a dead row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::challenge {

inline constexpr float kLargestActivation = 32;

// One layer in CSR by output: output j sums value[k] * x[input[k]] over its connections
// k in [row_begin[j], row_begin[j + 1]). Host memory.
struct SparseLayer {
  std::uint32_t inputs = 0;
  std::vector<std::uint32_t> row_begin;  // [outputs + 1], row_begin[0] = 0
  std::vector<std::uint32_t> input;      // [connections], ascending within a row, < inputs
  std::vector<float> value;              // [connections]
  std::vector<float> bias;               // [outputs]

  std::uint32_t outputs() const { return static_cast<std::uint32_t>(bias.size()); }
  std::uint32_t connections() const { return static_cast<std::uint32_t>(input.size()); }

  friend bool operator==(const SparseLayer&, const SparseLayer&) = default;
};

// Throws Error{usage} naming `where` unless the members fit each other as said above and every
// value is finite.
void check_layer(const SparseLayer& layer, const std::string& where);

// A network hands out one layer at a time, because the largest of the challenge has 4e9
// connections.
class Network {
 public:
  virtual ~Network() = default;

  virtual std::string name() const = 0;       // "1024 neurons, 120 layers in DIR"
  virtual std::uint32_t neurons() const = 0;  // inputs of the first layer
  virtual std::uint32_t layers() const = 0;
  virtual std::uint64_t connections() const = 0;  // of all layers

  // Layer l from 0. May be called from several threads at once. Throws Error{usage} if there is
  // no such layer, Error{bad_file} if it cannot be read.
  virtual SparseLayer layer(std::uint32_t l) const = 0;
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
  SparseLayer layer(std::uint32_t l) const override;

 private:
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
  SparseLayer layer(std::uint32_t l) const override;

 private:
  const Network& whole_;
  std::uint32_t first_;
  std::uint32_t last_;
  std::uint32_t neurons_ = 0;
  std::uint64_t connections_ = 0;
};

}  // namespace winnow::challenge
