// PNG, JPEG and gzip files, written by the libraries that also read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/images/picture.h"
#include "tests/images/write_files.h"

namespace winnow {

Bytes png_bytes(const Picture& picture);

// Of quality 95 without colour subsampling.
Bytes jpeg_bytes(const Picture& picture);

Bytes gzip_bytes(const Bytes& bytes);

// A smooth picture: neighbouring pixels differ little, so that JPEG keeps it well.
Picture smooth_picture(std::int64_t height, std::int64_t width, std::int64_t channels);

}  // namespace winnow
