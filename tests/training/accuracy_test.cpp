#include "prune/training/accuracy.h"

#include <doctest/doctest.h>

#include "tests/model/one_pixel.h"
#include "tests/throws.h"
#include "tests/training/images.h"

namespace winnow {
namespace {

constexpr char kCpu[] = "cpu";

TEST_CASE("accuracy counts the highest output, whatever the batch") {
  const ImageSet images = pixels({0, 100, 200, 255, 30}, {1, 1, 0, 0, 0});
  for (const std::int64_t batch : {1, 2, 512}) {
    CHECK(measure_accuracy(one_pixel_model(), images, {.device = kCpu, .batch = batch}) ==
          doctest::Approx(0.8));
  }
}

TEST_CASE("predict gives the outputs after preprocessing") {
  Model model = one_pixel_model();
  model.preprocessing = {.mean = {0.5f}, .deviation = {0.25f}};
  const auto outputs = predict(model, pixels({255, 0}, {0, 1}), {.device = kCpu});
  CHECK(outputs == std::vector<float>{2.0f, 0.5f, -2.0f, 0.5f});
}

TEST_CASE("images of another size are refused") {
  CHECK(error_of([] {
          measure_accuracy(one_pixel_model(), striped_images(4, 1), {.device = kCpu});
        }) == ErrorCode::usage);
  CHECK(error_of([] { measure_accuracy(one_pixel_model(), pixels({}, {}), {.device = kCpu}); }) ==
        ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
