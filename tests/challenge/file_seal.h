// Changes to binary files of the challenge that leave their checksums right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/base/random.h"

namespace winnow::challenge {

using FileBytes = std::vector<std::byte>;

FileBytes file_bytes(const std::string& path);

template <typename T>
FileBytes changed(FileBytes file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(T));
  return file;
}

// With the checksums of the parts whose places lie in the file, and of header and table.
// Requires a whole header.
FileBytes sealed(FileBytes file);

// One to four numbers of 1, 2, 4 or 8 bytes anywhere become other ones, often awkward; sometimes
// bytes are put in or taken out, which the header's length follows. Sealed.
FileBytes mutated(FileBytes file, Random& random);

}  // namespace winnow::challenge
