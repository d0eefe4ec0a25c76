// What kernels over images in channels-last layout have in common.
#pragma once

#include <cstdint>

namespace winnow {

enum class ImageType { f32, bf16 };

// Elements of 16 bytes, which kernels load at once.
constexpr std::int64_t pack_size(ImageType type) {
  return type == ImageType::f32 ? 4 : 8;
}

}  // namespace winnow
