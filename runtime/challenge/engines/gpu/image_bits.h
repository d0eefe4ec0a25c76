// Images as bits, 32 images to a word: what the first layer reads.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/images.h"

namespace winnow::challenge {

// [ceil(images / 32)][neurons]; bit i % 32 of word [i / 32][n] is image i at neuron n.
std::vector<std::uint32_t> image_bits(const SparseImages& images, std::uint32_t first,
                                      std::uint32_t last);

// The numbers of the bits that are set in `count` words, ascending.
std::vector<std::uint32_t> numbers_of_set_bits(const std::uint32_t* words, std::uint32_t count);

}  // namespace winnow::challenge
