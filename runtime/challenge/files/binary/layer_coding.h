// A layer as a part of a network file: what the table says of it, and its arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/challenge/files/binary/part_file.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Bits of PartFacts::form.
inline constexpr std::uint32_t kEqualRows = 1;    // no row bounds: all rows are equally long
inline constexpr std::uint32_t kEqualBiases = 2;  // no biases: all are equal
inline constexpr std::uint32_t kEqualValues = 4;  // no weights: all are equal
inline constexpr std::uint32_t kShortInputs = 8;  // inputs as 16-bit numbers

// PartFacts::words by name.
struct LayerFacts {
  std::uint32_t form = 0;
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::uint32_t connections = 0;
  std::uint32_t row_length = 0;  // with kEqualRows, else 0
  float bias = 0;                // with kEqualBiases, else 0
  float value = 0;               // with kEqualValues, else 0
};

LayerFacts unpack(const PartFacts& facts);

// Names the first rule that the facts of a layer whose part has so many bytes break; empty if they
// break none. Then the arrays of the part account for all memory of the layer but 8 bytes an
// output.
std::string find_defect(const LayerFacts& facts, std::uint64_t bytes);

class EncodedLayer {
 public:
  // Refers to `layer`, which must be sound and outlive the object.
  explicit EncodedLayer(const SparseLayer& layer);
  EncodedLayer(const EncodedLayer&) = delete;
  EncodedLayer& operator=(const EncodedLayer&) = delete;

  PartFacts facts() const;
  std::span<const Bytes> arrays() const { return arrays_; }

 private:
  LayerFacts facts_;
  std::vector<std::uint16_t> short_inputs_;
  std::vector<Bytes> arrays_;
};

// The arrays may hold anything: check_layer() tells whether the result is sound. Uses the memory of
// `layer` again. Requires find_defect(facts, part.size()).empty(). Throws Error{bad_file} naming
// `place`.
void decode_layer(const LayerFacts& facts, Bytes part, const std::string& place,
                  SparseLayer& layer);

}  // namespace winnow::challenge
