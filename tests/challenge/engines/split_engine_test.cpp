#include "runtime/challenge/engines/split_engine.h"

#include <doctest/doctest.h>

#include "runtime/challenge/engines/engines.h"
#include "tests/challenge/random_network.h"
#include "tests/throws.h"

namespace winnow::challenge {

TEST_CASE("images split over engines give the categories of all") {
  const MemoryNetwork network = random_network({.widths = {40, 50, 40}, .seed = 3});
  for (const int shares : {1, 2, 5}) {
    SplitEngine engine(shares, [&](int) { return make_engine("reference", network, {}); });
    for (const std::uint32_t images : {0u, 3u, 101u, 400u, 640u}) {
      CAPTURE(shares);
      CAPTURE(images);
      const SparseImages all = random_images(40, images, 7);
      const ExpectedResult expected = expected_result(network, all);
      engine.set_images(all);
      RunTimes times;
      CHECK(engine.run(times) == expected.categories);
      CHECK(times.inference_ms > 0);
      CHECK(engine.live() == expected.live);
    }
  }
}

TEST_CASE("stripes hold every image once, in order") {
  const SparseImages all = random_images(30, 45, 3);
  for (const std::uint32_t shares : {1u, 2u, 3u, 7u}) {
    for (std::uint32_t share = 0; share < shares; ++share) {
      const SparseImages some = stripes(all, 10, share, shares);
      check_images(some, "stripes");
      std::uint32_t at = 0;
      for (std::uint32_t i = 0; i < all.images(); ++i) {
        if (i / 10 % shares != share) continue;
        CHECK(slice(some, at, at + 1) == slice(all, i, i + 1));
        ++at;
      }
      CHECK(some.images() == at);
    }
  }
}

TEST_CASE("an error of one engine is the error of all") {
  const auto make = [](int share) -> std::unique_ptr<Engine> {
    if (share == 1) fail(ErrorCode::device, "no such device");
    const MemoryNetwork network = random_network({.widths = {4, 4}});
    return make_engine("reference", network, {});
  };
  CHECK(error_of([&] { SplitEngine engine(2, make); }) == ErrorCode::device);
}

TEST_CASE("only engines on a GPU are split over GPUs") {
  const MemoryNetwork network = random_network({.widths = {4, 4}});
  EngineOptions options;
  options.gpus = {0, 1};
  CHECK(error_of([&] { make_engine("cpu", network, options); }) == ErrorCode::usage);
}

}  // namespace winnow::challenge
