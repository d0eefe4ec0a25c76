#include "runtime/challenge/engines/gpu/image_bits.h"

#include <bit>

namespace winnow::challenge {

std::vector<std::uint32_t> image_bits(const SparseImages& images, std::uint32_t first,
                                      std::uint32_t last) {
  std::vector<std::uint32_t> words(std::size_t{(last - first + 31) / 32} * images.neurons);
  for (std::uint32_t i = first; i < last; ++i) {
    const std::size_t row = std::size_t{(i - first) / 32} * images.neurons;
    for (std::uint64_t k = images.row_begin[i]; k < images.row_begin[i + 1]; ++k) {
      words[row + images.neuron[k]] |= 1u << (i - first) % 32;
    }
  }
  return words;
}

std::vector<std::uint32_t> numbers_of_set_bits(const std::uint32_t* words, std::uint32_t count) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t w = 0; w < count; ++w) {
    for (std::uint32_t word = words[w]; word != 0; word &= word - 1) {
      numbers.push_back(w * 32 + static_cast<std::uint32_t>(std::countr_zero(word)));
    }
  }
  return numbers;
}

}  // namespace winnow::challenge
