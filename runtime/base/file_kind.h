// What a file is that was given in place of one of ours.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace winnow {

// "a ZIP archive, as PyTorch's .pt", "a PNG picture": the kind of file that begins with `bytes`, by
// its first bytes; empty if it is none that is known. All of a file should be given, or at least
// its first 512 bytes.
std::string file_kind(std::span<const std::byte> bytes);

// ", but a PNG picture", for the end of a message; empty if the kind is not known.
std::string but_file_kind(std::span<const std::byte> bytes);

}  // namespace winnow
