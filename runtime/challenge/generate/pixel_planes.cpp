#include "runtime/challenge/generate/pixel_planes.h"

#include <algorithm>
#include <bit>

#include "runtime/challenge/parallel.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kImagesPerJob = 256;  // neighbours share cache lines

}  // namespace

PixelPlanes::PixelPlanes(std::uint32_t images, std::uint32_t side, std::uint32_t planes)
    : images_(images),
      side_(side),
      planes_(planes),
      words_per_image_((side / planes + 31) / 32),
      words_(std::size_t{side} * planes * images * words_per_image_) {}

std::uint64_t PixelPlanes::address(std::uint32_t y, std::uint32_t plane, std::uint32_t image,
                                   std::uint32_t point) const {
  const std::uint64_t row = std::uint64_t{y} * planes_ + plane;
  return (row * images_ + image) * words_per_image_ * 32 + point;
}

void PixelPlanes::clear() {
  std::fill(words_.begin(), words_.end(), 0);
}

// Calls action(x, neuron) for the ones of an image, in the order of neurons within a column x.
template <typename Action>
void PixelPlanes::for_each_one(std::uint32_t image, std::uint32_t neurons, Action action) const {
  for (std::uint32_t y = 0; y < side_; ++y) {
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      const std::uint32_t* words = words_.data() + address(y, plane, image, 0) / 32;
      for (std::uint32_t w = 0; w < words_per_image_; ++w) {
        for (std::uint32_t bits = words[w]; bits != 0; bits &= bits - 1) {
          const auto point = 32 * w + static_cast<std::uint32_t>(std::countr_zero(bits));
          const std::uint32_t x = point * planes_ + plane;
          if (x * side_ + y < neurons) action(x, x * side_ + y);
        }
      }
    }
  }
}

SparseImages PixelPlanes::to_images(std::uint32_t first, std::uint32_t last,
                                    std::uint32_t neurons) const {
  SparseImages images{.neurons = neurons, .row_begin = {}, .neuron = {}};
  images.row_begin.resize(std::size_t{last - first} + 1);
  const auto for_all = [&](auto job) {
    for_each_in_parallel((last - first + kImagesPerJob - 1) / kImagesPerJob, [&](std::size_t j) {
      const auto begin = static_cast<std::uint32_t>(j) * kImagesPerJob;
      const std::uint32_t end = std::min(begin + kImagesPerJob, last - first);
      for (std::uint32_t i = begin; i < end; ++i) job(i);
    });
  };
  for_all([&](std::uint32_t i) {
    for_each_one(first + i, neurons,
                 [&](std::uint32_t, std::uint32_t) { ++images.row_begin[i + 1]; });
  });
  for (std::uint32_t i = 0; i < last - first; ++i) images.row_begin[i + 1] += images.row_begin[i];
  images.neuron.resize(images.row_begin.back());
  for_all([&](std::uint32_t i) {
    std::vector<std::uint64_t> at(std::size_t{side_} + 1);  // where the next one of a column goes
    for_each_one(first + i, neurons, [&](std::uint32_t x, std::uint32_t) { ++at[x + 1]; });
    at[0] = images.row_begin[i];
    for (std::uint32_t x = 0; x < side_; ++x) at[x + 1] += at[x];
    for_each_one(first + i, neurons,
                 [&](std::uint32_t x, std::uint32_t neuron) { images.neuron[at[x]++] = neuron; });
  });
  return images;
}

}  // namespace winnow::challenge
