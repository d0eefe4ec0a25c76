// Feeds damaged binary files of the challenge to their readers. As for model files the mutator
// makes checksums right again.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "tests/challenge/file_seal.h"
#include "tests/challenge/sample_data.h"
#include "tests/temporary_directory.h"

namespace {

using winnow::challenge::FileBytes;

FileBytes bytes_of(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

FileBytes sound_network(const std::string& path, winnow::Random& random) {
  winnow::challenge::NetworkFileWriter writer(path, 5, 2);
  writer.append(winnow::challenge::random_layer(5, 4, random.bits()));
  writer.append(winnow::challenge::regular_layer(4, 3, 2, random.bits()));
  writer.commit();
  return winnow::challenge::file_bytes(path);
}

FileBytes sound_images(const std::string& path, winnow::Random& random) {
  const double chance = random.chance(0.5) ? 0.5 : 0.01;
  const auto images = winnow::challenge::random_images(300, 5, chance, random.bits());
  winnow::challenge::write_images_file(path, images);
  return winnow::challenge::file_bytes(path);
}

// Written once, because the writers wait for the disk.
const std::vector<FileBytes>& sound_files() {
  static const std::vector<FileBytes> files = [] {
    const winnow::TemporaryDirectory directory;
    winnow::Random random(1);
    std::vector<FileBytes> made;
    for (int i = 0; i < 16; ++i) {
      made.push_back(sound_network(directory / "n", random));
      made.push_back(sound_images(directory / "i", random));
    }
    return made;
  }();
  return files;
}

// Reads all of a file of either kind; true if it was accepted.
bool read(const FileBytes& file) {
  try {
    const bool is_network = file.size() > 3 && file[3] == std::byte{'N'};
    if (!is_network) {
      check_images(winnow::challenge::read_images_bytes(file, "fuzz"), "fuzz");
      return true;
    }
    const auto network = winnow::challenge::open_network_bytes(file, "fuzz");
    for (std::uint32_t l = 0; l < network->layers(); ++l) check_layer(network->layer(l), "fuzz");
    return true;
  } catch (const winnow::Error& error) {
    if (error.code() != winnow::ErrorCode::bad_file) __builtin_trap();
    return false;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  winnow::Random random(seed);
  FileBytes file = bytes_of(data, size);
  if (!read(file)) file = sound_files()[random.below(sound_files().size())];
  file = winnow::challenge::mutated(std::move(file), random);
  const std::size_t length = std::min(file.size(), max_size);
  std::transform(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length), data,
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read(bytes_of(data, size));
  return 0;
}
