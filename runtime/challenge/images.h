// The inputs of the challenge: sparse images of zeros and ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::challenge {

// CSR by image: image i is 1 at neuron[k] for k in [row_begin[i], row_begin[i + 1]) and 0
// elsewhere. Host memory.
struct SparseImages {
  std::uint32_t neurons = 0;
  std::vector<std::uint64_t> row_begin;  // [images + 1], row_begin[0] = 0
  std::vector<std::uint32_t> neuron;     // [ones], ascending within an image, < neurons

  std::uint32_t images() const {
    return row_begin.empty() ? 0 : static_cast<std::uint32_t>(row_begin.size() - 1);
  }
  std::uint64_t ones() const { return neuron.size(); }

  friend bool operator==(const SparseImages&, const SparseImages&) = default;
};

// Throws Error{usage} naming `where` unless the members fit each other as said above.
void check_images(const SparseImages& images, const std::string& where);

// Throws Error{usage} unless the images are for a network that takes so many neurons.
void check_neurons(const SparseImages& images, std::uint32_t neurons);

// The images [first, last). Throws Error{usage} unless first <= last <= images.
SparseImages slice(const SparseImages& images, std::uint32_t first, std::uint32_t last);

// Images of a stripe, at which devices or processes take turns: how many images live on changes in
// the course of a file (of the first half of MNIST's a quarter more than of the second).
inline constexpr std::uint32_t kStripeImages = 64;

// Of stripes of `width` images the ones with numbers share, share + shares, share + 2 shares, ...
// Requires width > 0 and share < shares.
SparseImages stripes(const SparseImages& images, std::uint32_t width, std::uint32_t share,
                     std::uint32_t shares);

}  // namespace winnow::challenge
