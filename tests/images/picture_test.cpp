#include "runtime/images/picture.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "runtime/images/image_set.h"
#include "tests/images/encode.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

int largest_difference(const Bytes& a, const Bytes& b) {
  REQUIRE(a.size() == b.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST_CASE("a PNG is read back exactly, grey and colour, whatever its name") {
  const TemporaryDirectory directory;
  for (const std::int64_t channels : {1, 3}) {
    const Picture picture = smooth_picture(9, 14, channels);
    write_bytes(directory / "picture.jpg", png_bytes(picture));
    const Picture read = decode_picture(directory / "picture.jpg");
    CHECK(read.height == 9);
    CHECK(read.width == 14);
    CHECK(read.channels == channels);
    CHECK(read.pixels == picture.pixels);
  }
}

TEST_CASE("a JPEG is read back within its loss, grey and colour") {
  const TemporaryDirectory directory;
  for (const std::int64_t channels : {1, 3}) {
    const Picture picture = smooth_picture(21, 30, channels);
    write_bytes(directory / "picture.jpg", jpeg_bytes(picture));
    const Picture read = decode_picture(directory / "picture.jpg");
    CHECK(read.height == 21);
    CHECK(read.width == 30);
    REQUIRE(read.channels == channels);
    CHECK(largest_difference(read.pixels, picture.pixels) <= 6);
  }
}

TEST_CASE("pictures cut at any length are refused with their name and the decoder's reason") {
  const TemporaryDirectory directory;
  const Picture picture = smooth_picture(20, 20, 3);
  for (const Bytes& whole : {png_bytes(picture), jpeg_bytes(picture)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      write_bytes(directory / "cut.png",
                  Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      const auto read = [&] { decode_picture(directory / "cut.png"); };
      REQUIRE(error_of(read) == ErrorCode::bad_file);
      REQUIRE(message_of(read).find(directory / "cut.png") == 0);
    }
    write_bytes(directory / "cut.png", whole);
    CHECK(error_of([&] { decode_picture(directory / "cut.png"); }) == std::nullopt);
  }
}

TEST_CASE("a PNG with any bit flipped is refused") {
  const TemporaryDirectory directory;
  const Picture picture = smooth_picture(5, 6, 3);
  const Bytes whole = png_bytes(picture);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    CAPTURE(bit);
    Bytes damaged = whole;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    write_bytes(directory / "damaged.png", damaged);
    REQUIRE(error_of([&] { decode_picture(directory / "damaged.png"); }) == ErrorCode::bad_file);
  }
}

TEST_CASE("a PNG header that promises too many pixels is refused before memory is taken") {
  const TemporaryDirectory directory;
  Picture picture{1, 1 << 16, 1, Bytes(1 << 16)};
  Bytes bytes = png_bytes(picture);
  // Height 2^31 - 1 with the checksum of the changed header (bytes 12 to 28).
  bytes[20] = 0x7f;
  bytes[21] = bytes[22] = bytes[23] = 0xff;
  std::uint32_t checksum = 0xffffffff;  // CRC-32 as in the PNG specification, annex D
  for (std::size_t i = 12; i < 29; ++i) {
    checksum ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) {
      checksum = checksum >> 1 ^ (checksum & 1 ? 0xedb88320u : 0u);
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[29 + i] = static_cast<std::uint8_t>(~checksum >> (24 - 8 * i));
  }
  write_bytes(directory / "huge.png", bytes);
  const auto read = [&] { decode_picture(directory / "huge.png"); };
  CHECK(error_of(read) == ErrorCode::bad_file);
  CHECK(message_of(read).find("2147483647 x 65536") != std::string::npos);
}

TEST_CASE("other files are refused by their first bytes") {
  const TemporaryDirectory directory;
  write_text(directory / "picture.png", "GIF89a and so on");
  CHECK(error_of([&] { decode_picture(directory / "picture.png"); }) == ErrorCode::bad_file);
  CHECK(error_of([&] { decode_picture(directory / "none.png"); }) == ErrorCode::bad_file);
}

TEST_CASE("with_channels weighs colours by luma and repeats grey") {
  const Picture colour{1, 4, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255, 200, 200, 200}};
  CHECK(with_channels(colour, 1).pixels == Bytes{76, 150, 29, 200});
  const Picture grey{1, 2, 1, {3, 250}};
  CHECK(with_channels(grey, 3).pixels == Bytes{3, 3, 3, 250, 250, 250});
  CHECK(with_channels(grey, 1).pixels == grey.pixels);
}

TEST_CASE("read_picture gives planes of the size asked for") {
  const TemporaryDirectory directory;
  const Picture picture{1, 2, 3, {1, 2, 3, 4, 5, 6}};
  write_bytes(directory / "picture.png", png_bytes(picture));
  CHECK(read_picture(directory / "picture.png", 3, 1, 2) == Bytes{1, 4, 2, 5, 3, 6});
  CHECK(read_picture(directory / "picture.png", 3, 1, 1) == Bytes{1, 2, 3});
  CHECK(read_picture(directory / "picture.png", 1, 8, 8).size() == 64);
}

TEST_CASE("read_picture refuses sizes that no network has") {
  const auto refusal = [](std::int64_t channels, std::int64_t height, std::int64_t width) {
    return error_of([&] { read_picture("any.png", channels, height, width); });
  };
  CHECK(refusal(2, 8, 8) == ErrorCode::usage);
  CHECK(refusal(3, 0, 8) == ErrorCode::usage);
  CHECK(refusal(3, 8, -1) == ErrorCode::usage);
  CHECK(refusal(3, std::int64_t{1} << 40, std::int64_t{1} << 40) == ErrorCode::usage);
}

TEST_CASE("picture_support names both formats where both decoders are there") {
  CHECK(picture_support() == "png, jpeg");
}

}  // namespace
}  // namespace winnow
