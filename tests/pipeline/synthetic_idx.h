// A small learnable data set as IDX files: bright bars whose place is the class.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/base/random.h"

namespace winnow {

inline constexpr int kSyntheticSize = 28;
inline constexpr int kSyntheticClasses = 4;

inline void write_big_endian(std::ofstream& file, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift));
}

inline std::uint8_t synthetic_pixel(int label, int y, int x, Random& random) {
  const int position = label < 2 ? y : x;
  const bool is_bar = position / 7 == (label % 2 == 0 ? 1 : 3);
  return static_cast<std::uint8_t>(random.between(0, 90) + (is_bar ? 150 : 0));
}

// Writes PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte into `directory`.
inline void write_synthetic_idx(const std::string& directory, const std::string& prefix, int count,
                                std::uint64_t seed) {
  Random random(seed);
  std::ofstream images(directory + "/" + prefix + "-images-idx3-ubyte", std::ios::binary);
  std::ofstream labels(directory + "/" + prefix + "-labels-idx1-ubyte", std::ios::binary);
  write_big_endian(images, 0x803);
  write_big_endian(images, static_cast<std::uint32_t>(count));
  write_big_endian(images, kSyntheticSize);
  write_big_endian(images, kSyntheticSize);
  write_big_endian(labels, 0x801);
  write_big_endian(labels, static_cast<std::uint32_t>(count));
  for (int i = 0; i < count; ++i) {
    const int label = static_cast<int>(random.below(kSyntheticClasses));
    labels.put(static_cast<char>(label));
    for (int y = 0; y < kSyntheticSize; ++y) {
      for (int x = 0; x < kSyntheticSize; ++x) {
        images.put(static_cast<char>(synthetic_pixel(label, y, x, random)));
      }
    }
  }
}

}  // namespace winnow
