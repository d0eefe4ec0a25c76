// In place of png.cpp where libspng was not found.
#include "runtime/base/error.h"
#include "runtime/images/picture.h"

namespace winnow {

Picture decode_png(const std::string& path, std::span<const std::byte>) {
  fail(ErrorCode::usage, path, ": is a PNG, but ", missing_png());
}

std::string missing_png() {
  return "this build lacks libspng (Debian: libspng-dev)";
}

}  // namespace winnow
