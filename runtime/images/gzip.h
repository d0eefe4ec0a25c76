// Gzip, for the IDX files that are usually kept packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow {

// By the two first bytes, whatever the file is called.
inline bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

// The first `limit` unpacked bytes of a gzip file. If it holds fewer, they are all returned, and
// its end, checksums and lengths were checked. Members that follow one another count as one (RFC
// 1952). Throws Error{bad_file} with `path` for damaged, cut or trailing bytes; Error{usage} if
// this build lacks zlib.
std::vector<std::uint8_t> gunzip(const std::string& path, std::span<const std::byte> bytes,
                                 std::size_t limit);

// Empty, or what this build lacks.
std::string missing_gzip();

}  // namespace winnow
