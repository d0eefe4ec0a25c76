#include "prune/evolution/trainee/layer_scan.h"

#include <doctest/doctest.h>

#include "tests/evolution/synthetic_trainee.h"
#include "tests/throws.h"

namespace winnow {
namespace {

SyntheticTrainee two_layers() {
  return SyntheticTrainee({{.blocks = 100, .tolerance = 0.5, .cost = 0.1, .shock = 0.0},
                           {.blocks = 100, .tolerance = 0.9, .cost = 0.1, .shock = 0.0}},
                          0.8);
}

TEST_CASE("each layer is pruned alone, and the trainee gets its state back") {
  SyntheticTrainee trainee = two_layers();
  const std::vector<double> sparsities = {0.5, 0.75};
  std::size_t last = 0;
  const LayerScan scan = scan_layers(trainee, sparsities, [&](std::size_t done, std::size_t total) {
    CHECK(done == ++last);
    CHECK(total == 5);
  });
  CHECK(last == 5);
  CHECK(scan.accuracy == trainee.measure_accuracy());
  REQUIRE(scan.accuracies.size() == 2);
  CHECK(scan.accuracies[0][0] == scan.accuracy);
  CHECK(scan.accuracies[0][1] == doctest::Approx(scan.accuracy - 0.1 * std::log(2.0)));
  CHECK(scan.accuracies[1] == std::vector<double>{scan.accuracy, scan.accuracy});
  CHECK(trainee.now().sparsities == std::vector<double>{0.0, 0.0});
}

TEST_CASE("a scan that is stopped leaves the trainee as it was") {
  SyntheticTrainee trainee = two_layers();
  const auto stop = [](std::size_t done, std::size_t) {
    if (done == 3) fail(ErrorCode::interrupted, "stop");
  };
  const std::vector<double> sparsities = {0.5, 0.75};
  CHECK(error_of([&] { scan_layers(trainee, sparsities, stop); }) == ErrorCode::interrupted);
  CHECK(trainee.now().sparsities == std::vector<double>{0.0, 0.0});
}

}  // namespace
}  // namespace winnow
