#include <spng.h>

#include <algorithm>
#include <array>
#include <memory>

#include "runtime/base/error.h"
#include "runtime/images/picture.h"

namespace winnow {
namespace {

// Text and profile chunks may be packed; this is far above what pictures carry.
constexpr std::size_t kMaxChunkBytes = std::size_t{64} << 20;

// The last chunk (PNG specification, 11.2.5): length 0, "IEND", its checksum.
constexpr std::array<unsigned char, 12> kEnd = {0,   0,   0,    0,    'I',  'E',
                                                'N', 'D', 0xae, 0x42, 0x60, 0x82};

// libspng does not read the checksum of the last chunk.
bool has_end(std::span<const std::byte> bytes) {
  const auto equal = [](std::byte a, unsigned char b) { return a == std::byte{b}; };
  return std::search(bytes.begin(), bytes.end(), kEnd.begin(), kEnd.end(), equal) != bytes.end();
}

struct Destroy {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Decoder = std::unique_ptr<spng_ctx, Destroy>;

// All colour types are decoded to RGB; of a grey picture one channel is kept.
Picture first_channel(const Picture& rgb) {
  Picture grey{rgb.height, rgb.width, 1, {}};
  grey.pixels.resize(rgb.pixels.size() / 3);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) grey.pixels[i] = rgb.pixels[3 * i];
  return grey;
}

}  // namespace

Picture decode_png(const std::string& path, std::span<const std::byte> bytes) {
  const Decoder decoder(spng_ctx_new(0));
  if (!decoder) fail(ErrorCode::internal, path, ": libspng cannot start");
  const auto check = [&](int status) {
    if (status != 0) fail(ErrorCode::bad_file, path, ": PNG: ", spng_strerror(status));
  };
  check(spng_set_chunk_limits(decoder.get(), kMaxChunkBytes, kMaxChunkBytes));
  check(spng_set_png_buffer(decoder.get(), bytes.data(), bytes.size()));
  spng_ihdr header{};
  check(spng_get_ihdr(decoder.get(), &header));
  Picture picture = blank_picture(path, header.height, header.width, 3);
  check(spng_decode_image(decoder.get(), picture.pixels.data(), picture.pixels.size(),
                          SPNG_FMT_RGB8, 0));
  check(spng_decode_chunks(decoder.get()));  // what follows the pixels
  if (!has_end(bytes)) fail(ErrorCode::bad_file, path, ": PNG: end of stream");

  const bool is_grey = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE ||
                       header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
  return is_grey ? first_channel(picture) : picture;
}

std::string missing_png() {
  return "";
}

}  // namespace winnow
