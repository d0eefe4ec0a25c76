// A block of images as a part of an images file: what the table says of it, and its arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/challenge/files/binary/part_file.h"
#include "runtime/challenge/images.h"

namespace winnow::challenge {

// How the ones of a block are stored, PartFacts::form.
enum class BlockForm : std::uint32_t {
  bitmaps = 1,      // a bit a neuron
  short_lists = 2,  // counts, then neurons as 16-bit numbers
  lists = 3,        // counts, then neurons as 32-bit numbers
};

struct BlockFacts {
  BlockForm form = BlockForm::bitmaps;
  std::uint32_t neurons = 0;
  std::uint32_t images = 0;
  std::uint64_t ones = 0;
};

// `neurons` and `images` are those of the block, which the table does not say.
BlockFacts unpack(const PartFacts& facts, std::uint32_t neurons, std::uint32_t images);

// Names the first rule that a block whose part has so many bytes breaks; empty if it breaks none.
std::string find_defect(const BlockFacts& facts, std::uint64_t bytes);

class EncodedBlock {
 public:
  // The images [first, last) of `images`, which must be sound and outlive the object. Takes the
  // form that needs fewer bytes.
  EncodedBlock(const SparseImages& images, std::uint32_t first, std::uint32_t last);
  EncodedBlock(const EncodedBlock&) = delete;
  EncodedBlock& operator=(const EncodedBlock&) = delete;

  PartFacts facts() const;
  std::span<const Bytes> arrays() const { return arrays_; }

 private:
  void fill_bitmaps(const SparseImages& images, std::uint32_t first);
  void fill_lists(const SparseImages& images, std::uint32_t first);

  BlockFacts facts_;
  std::vector<std::uint64_t> bitmaps_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint16_t> short_neurons_;
  std::vector<Bytes> arrays_;
};

// Unpacks a block whose ones begin at `begin` in the whole: the ends of its images to `row_end`
// [images], its ones to `neuron` [ones]. Requires find_defect(facts, part.size()).empty(). Throws
// Error{bad_file} naming `place`.
void decode_block(const BlockFacts& facts, Bytes part, const std::string& place,
                  std::uint64_t begin, std::span<std::uint64_t> row_end,
                  std::span<std::uint32_t> neuron);

}  // namespace winnow::challenge
