// Linked with the stand-ins, as a build is where zlib, libjpeg-turbo and libspng are missing.
#include <doctest/doctest.h>

#include "runtime/images/idx.h"
#include "runtime/images/image_set.h"
#include "runtime/images/picture.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("a build without decoders says what it lacks") {
  const TemporaryDirectory directory;
  write_bytes(directory / "a.png", {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a});
  write_bytes(directory / "a.jpg", {0xff, 0xd8, 0xff, 0xe0});
  const auto png = [&] { decode_picture(directory / "a.png"); };
  const auto jpeg = [&] { decode_picture(directory / "a.jpg"); };
  CHECK(error_of(png) == ErrorCode::usage);
  CHECK(message_of(png).find("a.png: is a PNG, but this build lacks libspng") != std::string::npos);
  CHECK(error_of(jpeg) == ErrorCode::usage);
  CHECK(message_of(jpeg).find("a.jpg: is a JPEG, but this build lacks libjpeg-turbo") !=
        std::string::npos);
  CHECK(picture_support().starts_with("none; "));
}

TEST_CASE("a build without zlib reads plain IDX files and refuses packed ones") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 3, 2, 2);
  CHECK(read_idx(directory.path(), Split::train).count == 3);
  write_bytes(directory / "train-labels-idx1-ubyte", {0x1f, 0x8b, 8, 0});
  const auto read = [&] { read_idx(directory.path(), Split::train); };
  CHECK(error_of(read) == ErrorCode::usage);
  CHECK(message_of(read).find("lacks zlib") != std::string::npos);
}

}  // namespace
}  // namespace winnow
