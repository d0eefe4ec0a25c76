// Our binary form of images (.wsi), described byte by byte in docs/challenge-files.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/challenge/images.h"

namespace winnow::challenge {

class PartFileWriter;

// Images are packed in blocks of so many.
inline constexpr std::uint32_t kImagesPerBlock = 1024;

// Writes images that need not all be in memory. The file appears as a whole with commit(), else
// not at all. Equal images give equal files.
class ImagesFileWriter {
 public:
  // Throws Error{usage} unless 0 < neurons <= kMostNeurons and 0 < images <= kMostImages,
  // Error{bad_file} if `path` cannot be written.
  ImagesFileWriter(const std::string& path, std::uint32_t neurons, std::uint32_t images);
  ~ImagesFileWriter();

  // Throws Error{usage} if the images are malformed, of other neurons, or too many; or if images
  // were appended before and their number was no multiple of kImagesPerBlock.
  void append(const SparseImages& more);

  // Throws Error{usage} unless all images were appended.
  void commit();

 private:
  std::string path_;
  std::unique_ptr<PartFileWriter> file_;
  std::uint32_t neurons_;
  std::uint32_t images_;
  std::uint32_t appended_ = 0;
  std::uint64_t ones_ = 0;
};

// All at once. Throws as the writer does.
void write_images_file(const std::string& path, const SparseImages& images);

// Memory-mapped, blocks unpacked on all cores. Throws Error{bad_file}.
SparseImages read_images_file(const std::string& path);

// The same for a file in memory; `name` stands for the path.
SparseImages read_images_bytes(std::span<const std::byte> bytes, const std::string& name);

}  // namespace winnow::challenge
