// Linked with the stand-in, as a build is where FFTW is missing.
#include <doctest/doctest.h>

#include "runtime/challenge/generate/fft.h"
#include "runtime/challenge/generate/image_generator.h"
#include "tests/throws.h"

namespace winnow::challenge {

TEST_CASE("a build without FFTW says so instead of making images") {
  CHECK(missing_fft().find("libfftw3-dev") != std::string::npos);
  ImageSet pictures;
  pictures.count = pictures.channels = pictures.height = pictures.width = 1;
  pictures.pixels = {255};
  const auto make = [&] { make_images(pictures, 4, 1); };
  CHECK(error_of(make) == ErrorCode::usage);
  CHECK(message_of(make) == "images cannot be made: " + missing_fft());
}

}  // namespace winnow::challenge
