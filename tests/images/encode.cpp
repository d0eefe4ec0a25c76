#include "tests/images/encode.h"

#include <spng.h>
#include <turbojpeg.h>
#include <zlib.h>

#include <cstdlib>

#include "runtime/base/error.h"

namespace winnow {
namespace {

void require(bool succeeded, const char* what) {
  if (!succeeded) fail(ErrorCode::internal, "test file: ", what);
}

}  // namespace

Bytes png_bytes(const Picture& picture) {
  spng_ctx* context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_ihdr header{};
  header.width = static_cast<std::uint32_t>(picture.width);
  header.height = static_cast<std::uint32_t>(picture.height);
  header.bit_depth = 8;
  header.color_type = static_cast<std::uint8_t>(picture.channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE
                                                                      : SPNG_COLOR_TYPE_TRUECOLOR);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_set_ihdr(context, &header);
  require(spng_encode_image(context, picture.pixels.data(), picture.pixels.size(), SPNG_FMT_PNG,
                            SPNG_ENCODE_FINALIZE) == 0,
          "PNG");
  std::size_t size = 0;
  int error = 0;
  void* buffer = spng_get_png_buffer(context, &size, &error);
  const auto* first = static_cast<const std::uint8_t*>(buffer);
  Bytes bytes(first, first + size);
  std::free(buffer);
  spng_ctx_free(context);
  return bytes;
}

Bytes jpeg_bytes(const Picture& picture) {
  const bool is_grey = picture.channels == 1;
  tjhandle encoder = tjInitCompress();
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  require(tjCompress2(encoder, picture.pixels.data(), static_cast<int>(picture.width), 0,
                      static_cast<int>(picture.height), is_grey ? TJPF_GRAY : TJPF_RGB, &buffer,
                      &size, is_grey ? TJSAMP_GRAY : TJSAMP_444, 95, TJFLAG_ACCURATEDCT) == 0,
          "JPEG");
  Bytes bytes(buffer, buffer + size);
  tjFree(buffer);
  tjDestroy(encoder);
  return bytes;
}

Bytes gzip_bytes(const Bytes& bytes) {
  z_stream stream{};
  require(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "gzip");
  Bytes packed(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "gzip");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Picture smooth_picture(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Picture picture{height, width, channels, {}};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c) {
        picture.pixels.push_back(static_cast<std::uint8_t>(40 + 3 * y + 2 * x + 20 * c));
      }
    }
  }
  return picture;
}

}  // namespace winnow
