#include "prune/data/partition.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/images/image_reader.h"
#include "runtime/images/selection.h"

namespace winnow {
namespace {

// Apart from the streams of batches (prune/training/steps/batches.cpp), which have the same seed.
constexpr std::uint64_t kHoldOutStream = std::uint64_t{3} << 32;

using Histogram = std::array<std::uint64_t, 256>;

std::size_t image_bytes(const ImageSet& set) {
  return static_cast<std::size_t>(set.channels * set.height * set.width);
}

ImageSet without_images(const ImageSet& set) {
  ImageSet empty;
  empty.channels = set.channels;
  empty.height = set.height;
  empty.width = set.width;
  empty.classes = set.classes;
  empty.folder = set.folder;
  empty.token_count = set.token_count;
  return empty;
}

void append_image(ImageSet& to, const ImageSet& from, std::size_t index) {
  if (from.is_in_memory()) {
    const auto size = static_cast<std::ptrdiff_t>(image_bytes(from));
    const auto first = from.pixels.begin() + static_cast<std::ptrdiff_t>(index) * size;
    to.pixels.insert(to.pixels.end(), first, first + size);
  } else {
    to.files.push_back(from.files[index]);
  }
  if (!from.labels.empty()) to.labels.push_back(from.labels[index]);
  ++to.count;
}

// By channel.
std::vector<Histogram> histograms_of(const ImageSet& set) {
  const auto plane = static_cast<std::size_t>(set.height * set.width);
  const auto channels = static_cast<std::size_t>(set.channels);
  std::vector<Histogram> histograms(channels);
  constexpr std::int64_t kBatch = 64;
  ImageReader reader(set, kBatch);
  for (auto bytes = reader.next(); !bytes.empty(); bytes = reader.next()) {
    for (std::size_t first = 0, c = 0; first < bytes.size();
         first += plane, c = (c + 1) % channels) {
      for (const std::uint8_t byte : bytes.subspan(first, plane)) ++histograms[c][byte];
    }
  }
  return histograms;
}

}  // namespace

std::vector<bool> held_out_members(std::int64_t samples, std::int64_t count, std::uint64_t seed) {
  std::vector<bool> is_member(static_cast<std::size_t>(samples), false);
  if (count == 0) return is_member;
  Random random(seed, kHoldOutStream);
  const std::vector<std::int64_t> chosen = permutation(samples, random);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    is_member[static_cast<std::size_t>(chosen[i])] = true;
  }
  return is_member;
}

ImageSet hold_out(ImageSet& set, std::int64_t count, std::uint64_t seed) {
  ImageSet held = without_images(set);
  if (count == 0) return held;
  std::vector<bool> is_kept = held_out_members(set.count, count, seed);
  if (set.is_in_memory()) {
    held.pixels.reserve(static_cast<std::size_t>(count) * image_bytes(set));
  }
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    if (is_kept[i]) append_image(held, set, i);
  }
  is_kept.flip();
  keep_images(set, is_kept);
  return held;
}

Preprocessing measure_channels(const ImageSet& set) {
  Preprocessing result;
  for (const Histogram& histogram : histograms_of(set)) {
    const double count = static_cast<double>(set.count * set.height * set.width);
    std::uint64_t sum = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) sum += byte * histogram[byte];
    const double mean = static_cast<double>(sum) / count;
    double squares = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const double distance = static_cast<double>(byte) - mean;
      squares += distance * distance * static_cast<double>(histogram[byte]);
    }
    const double deviation = std::sqrt(squares / count) / 255;
    result.mean.push_back(static_cast<float>(mean / 255));
    result.deviation.push_back(deviation > 0 ? static_cast<float>(deviation) : 1.0f);
  }
  return result;
}

}  // namespace winnow
