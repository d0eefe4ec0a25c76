// In place of gzip.cpp where zlib was not found.
#include "runtime/base/error.h"
#include "runtime/images/gzip.h"

namespace winnow {

std::vector<std::uint8_t> gunzip(const std::string& path, std::span<const std::byte>, std::size_t) {
  fail(ErrorCode::usage, path, ": is packed, but ", missing_gzip(),
       "; unpack it with gunzip, or build again with zlib");
}

std::string missing_gzip() {
  return "this build lacks zlib (Debian: zlib1g-dev)";
}

}  // namespace winnow
