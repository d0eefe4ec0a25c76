// Images divided into blocks, each of which goes through the network on a CUDA stream of its own
// (after Wang, Malladi and Ji, "Efficient Sparse Deep Neural Network Computation on GPU with TVM").
#pragma once

#include <cstdint>
#include <vector>

namespace winnow::challenge {

// The images [first, last); may be none.
struct ImageBlock {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  std::uint32_t images() const { return last - first; }

  friend bool operator==(const ImageBlock&, const ImageBlock&) = default;
};

// The most images of a block where `images` are divided into `blocks`.
inline std::uint32_t largest_block(std::uint32_t images, std::uint32_t blocks) {
  return images / blocks + (images % blocks == 0 ? 0 : 1);
}

// The images [first, last) in order as `blocks` blocks, whose sizes differ by one at most.
inline std::vector<ImageBlock> divide_images(std::uint32_t first, std::uint32_t last,
                                             std::uint32_t blocks) {
  const std::uint64_t images = last - first;
  std::vector<ImageBlock> all;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    all.push_back({.first = first + static_cast<std::uint32_t>(images * b / blocks),
                   .last = first + static_cast<std::uint32_t>(images * (b + 1) / blocks)});
  }
  return all;
}

}  // namespace winnow::challenge
