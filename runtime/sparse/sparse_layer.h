// Sparse linear layers, one after the other, in host memory: what the engines of the challenge and
// the kernels of deployed models read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow {

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

// Whether every weight times `scale` is within fp16's range; or throws Error{usage} naming `where`.
bool fits_half_range(std::span<const float> weights, float scale);
void check_half_range(std::span<const float> weights, float scale, const std::string& where);

// Throws Error{usage} naming `where` unless layer l takes as many inputs as the one before has
// outputs.
void check_follows(const SparseLayer& before, const SparseLayer& layer, std::size_t l,
                   const std::string& where);

// Hands out one layer at a time, because the largest networks have 4e9 connections.
class LayerSource {
 public:
  virtual ~LayerSource() = default;

  virtual std::uint32_t neurons() const = 0;  // inputs of the first layer
  virtual std::uint32_t layers() const = 0;

  // Layer l from 0. May be called from several threads at once. Throws Error{usage} if there is
  // no such layer, Error{bad_file} if it cannot be read.
  virtual SparseLayer layer(std::uint32_t l) const = 0;

  // The same, but that the memory of what `into` held may be used again: for one layer after the
  // other.
  virtual void read(std::uint32_t l, SparseLayer& into) const { into = layer(l); }
};

}  // namespace winnow
