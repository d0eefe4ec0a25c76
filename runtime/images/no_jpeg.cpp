// In place of jpeg.cpp where libjpeg-turbo was not found.
#include "runtime/base/error.h"
#include "runtime/images/picture.h"

namespace winnow {

Picture decode_jpeg(const std::string& path, std::span<const std::byte>) {
  fail(ErrorCode::usage, path, ": is a JPEG, but ", missing_jpeg());
}

std::string missing_jpeg() {
  return "this build lacks libjpeg-turbo (Debian: libturbojpeg0-dev)";
}

}  // namespace winnow
