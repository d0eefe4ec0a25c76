// Which inputs an output reads in the networks of the challenge, and in others of the same kind.
//
// The neurons fall into G classes of nearly equal size, and with them the inputs of every layer.
// Layers come in blocks of K = ceil(log2 G); layer k of a block has the stride s = 2^k. Output j
// reads the inputs of the classes j mod G and (j + s) mod G: over a block, from every input there
// is a way to every output. In the first block input i is of class i mod G, in each later one the
// classes are dealt out anew at random.
//
// The published networks (Kepner et al., HPEC 2019) are of this kind with classes of 16 inputs.
// That their inputs are dealt out by the generator below was found from their files: all 120
// layers of 1024 neurons follow bit for bit.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace winnow::challenge {

// Uniform over the multiples of 2^-53 in [0, 1): two words of MT19937 each, as genrand_res53 in
// Matsumoto and Nishimura's own program has it.
class UniformStream {
 public:
  // `skipped` numbers are taken as drawn already.
  explicit UniformStream(std::uint32_t seed, std::uint64_t skipped = 0) : words_(seed) {
    words_.discard(2 * skipped);
  }

  double next() {
    const std::uint32_t high = static_cast<std::uint32_t>(words_()) >> 5;  // 27 bits
    const std::uint32_t low = static_cast<std::uint32_t>(words_()) >> 6;   // 26 bits
    return (high * 0x1p26 + low) * 0x1p-53;
  }

 private:
  std::mt19937 words_;  // its sequence is fixed by the C++ standard
};

class ClassStructure {
 public:
  // For square layers with 2 * class_size connections an output where class_size divides neurons;
  // else the first classes have one input more. Draws the classes of all blocks at once.
  // Requires 0 < class_size <= neurons and layers > 0.
  ClassStructure(std::uint32_t neurons, std::uint32_t class_size, std::uint32_t layers,
                 UniformStream stream);

  std::uint32_t classes() const { return classes_; }  // G

  // The class of every input of layer l: [neurons], each < classes().
  const std::vector<std::uint32_t>& input_classes(std::uint32_t l) const {
    return class_of_[l / strides_];
  }

  // The inputs that every output of class c reads in layer l: lists[c], ascending. [classes()]
  std::vector<std::vector<std::uint32_t>> input_lists(std::uint32_t l) const;

  std::uint64_t connections(std::uint32_t l) const;  // of layer l

 private:
  std::uint32_t stride(std::uint32_t l) const { return std::uint32_t{1} << (l % strides_); }

  std::uint32_t neurons_;
  std::uint32_t classes_;
  std::uint32_t strides_;                             // K
  std::vector<std::vector<std::uint32_t>> class_of_;  // [blocks][neurons]
};

// Numbers that the published networks of smaller sizes took from the one stream (seed 5489) before
// the first of this size is drawn: each size has 1920 layers.
// Throws Error{usage} unless 1024, 4096, 16384 or 65536.
std::uint64_t published_stream_position(std::uint32_t neurons);

}  // namespace winnow::challenge
