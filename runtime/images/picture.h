// One decoded picture, and the decoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"

namespace winnow {

// Larger ones are refused before memory is taken for them.
inline constexpr std::size_t kMaxPicturePixels = std::size_t{1} << 26;  // 64 Mpixel

struct Picture {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;         // 1 grey, 3 red-green-blue
  std::vector<std::uint8_t> pixels;  // [height, width, channels]
};

// Decodes a PNG or JPEG, told by its first bytes. Transparency is dropped, 16 bits become 8, CMYK
// becomes RGB; orientation tags and colour profiles do not count.
// Throws Error{bad_file} with path and the decoder's reason for any damage that the decoder notices
// (its warnings included), Error{usage} if this build lacks the decoder.
Picture decode_picture(const std::string& path);

// Grey from colour by ITU-R BT.601 luma (0.299 R + 0.587 G + 0.114 B, rounded); colour from grey by
// repetition. Requires channels 1 or 3.
Picture with_channels(Picture picture, std::int64_t channels);

// [channels, height, width] into `planes`, which has that size.
void write_planes(const Picture& picture, std::span<std::uint8_t> planes);

// A whole picture file brought to channels x height x width as read_picture says, written to
// `planes`.
void read_picture_into(const std::string& path, std::int64_t channels, std::int64_t height,
                       std::int64_t width, const PictureForm& form, std::span<std::uint8_t> planes);

// One picture of a set that stays in its files, written to `planes`. Throws as read_picture.
void read_file_of(const ImageSet& set, std::size_t index, std::span<std::uint8_t> planes);

// The decoders: jpeg.cpp, png.cpp, or their stand-ins. missing_...() is empty, or what is lacking.
Picture decode_jpeg(const std::string& path, std::span<const std::byte> bytes);
Picture decode_png(const std::string& path, std::span<const std::byte> bytes);
std::string missing_jpeg();
std::string missing_png();

// A picture of this size, its pixels yet to be written.
// Throws Error{bad_file} with `path` if a side is 0 or it exceeds kMaxPicturePixels.
Picture blank_picture(const std::string& path, std::uint64_t height, std::uint64_t width,
                      std::int64_t channels);

}  // namespace winnow
