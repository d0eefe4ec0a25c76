#include <turbojpeg.h>

#include <memory>

#include "runtime/base/error.h"
#include "runtime/images/picture.h"

namespace winnow {
namespace {

// Warnings are how libjpeg-turbo tells of cut or damaged data, after which it makes pixels up.
// Hostile progressive files have thousands of scans.
constexpr int kFlags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decoder = std::unique_ptr<void, Destroy>;

// Photoshop stores CMYK inverted (255 is no ink), and so do nearly all CMYK JPEGs.
Picture rgb_from_inverted_cmyk(const Picture& cmyk) {
  Picture rgb{cmyk.height, cmyk.width, 3, {}};
  const std::size_t count = cmyk.pixels.size() / 4;
  rgb.pixels.resize(3 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const int key = cmyk.pixels[4 * i + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      rgb.pixels[3 * i + c] = static_cast<std::uint8_t>((cmyk.pixels[4 * i + c] * key + 127) / 255);
    }
  }
  return rgb;
}

}  // namespace

Picture decode_jpeg(const std::string& path, std::span<const std::byte> bytes) {
  const Decoder decoder(tjInitDecompress());
  const auto check = [&](int status) {
    if (status != 0 || !decoder) {
      fail(ErrorCode::bad_file, path, ": JPEG: ", tjGetErrorStr2(decoder.get()));
    }
  };
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0, height = 0, sampling = 0, space = 0;
  check(tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling, &space));

  const bool is_cmyk = space == TJCS_CMYK || space == TJCS_YCCK;
  const int format = is_cmyk ? TJPF_CMYK : space == TJCS_GRAY ? TJPF_GRAY : TJPF_RGB;
  Picture picture = blank_picture(path, static_cast<std::uint64_t>(height),
                                  static_cast<std::uint64_t>(width), tjPixelSize[format]);
  check(tjDecompress2(decoder.get(), data, bytes.size(), picture.pixels.data(), width, 0, height,
                      format, kFlags));
  return is_cmyk ? rgb_from_inverted_cmyk(picture) : picture;
}

std::string missing_jpeg() {
  return "";
}

}  // namespace winnow
