// Small files for tests to read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"

namespace winnow {

using Bytes = std::vector<std::uint8_t>;

// Makes the folders on the way.
inline void write_bytes(const std::string& path, const Bytes& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline void write_text(const std::string& path, const std::string& text) {
  write_bytes(path, Bytes(text.begin(), text.end()));
}

// An IDX file: magic number, dimensions, values.
inline Bytes idx_bytes(const std::vector<std::uint32_t>& dims, const Bytes& values) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(dims.size())};
  for (std::uint32_t dim : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<std::uint8_t>(dim >> shift));
    }
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

// A CIFAR record: label bytes, then 3 x 32 x 32 pixels of which pixel i is first + i (mod 256).
inline void append_cifar_record(Bytes& bytes, const Bytes& labels, std::uint8_t first) {
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  for (int i = 0; i < 3 * 32 * 32; ++i) bytes.push_back(static_cast<std::uint8_t>(first + i));
}

// Both splits as IDX files of count images of height x width; pixel and label of image i are i.
inline void write_idx_set(const std::string& directory, std::uint32_t count, std::uint32_t height,
                          std::uint32_t width) {
  Bytes pixels, labels;
  for (std::uint32_t i = 0; i < count; ++i) {
    pixels.insert(pixels.end(), height * width, static_cast<std::uint8_t>(i));
    labels.push_back(static_cast<std::uint8_t>(i % 10));
  }
  for (const std::string split : {"train", "t10k"}) {
    write_bytes(directory + "/" + split + "-images-idx3-ubyte",
                idx_bytes({count, height, width}, pixels));
    write_bytes(directory + "/" + split + "-labels-idx1-ubyte", idx_bytes({count}, labels));
  }
}

}  // namespace winnow
