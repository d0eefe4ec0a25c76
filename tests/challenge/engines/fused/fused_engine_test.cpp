#include <doctest/doctest.h>

#include "runtime/base/error.h"
#include "runtime/challenge/engines/fused/fused_engines.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "tests/challenge/random_network.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {
namespace {

using Maker = std::unique_ptr<Engine> (*)(const Network&, const EngineOptions&);
constexpr Maker kMakers[] = {make_fused_engine, make_gather_engine};

struct Case {
  std::vector<std::uint32_t> widths;
  std::uint32_t images;
};
// The widest needs the forms of 8 and of 4 images to a row of shared memory.
const std::vector<Case> kCases = {{{1, 1}, 1},
                                  {{33, 31}, 32},
                                  {{37, 50, 3, 64, 29}, 300},
                                  {{200, 7, 129, 200}, 31},
                                  {{1000, 1030, 1024}, 130},
                                  {{2100, 60, 2500, 40}, 70},
                                  {{40, 5000, 64, 3900}, 50}};

// Both forms give the reference's categories, twice, with any of these options.
void check_case(const Case& sample, const std::vector<EngineOptions>& all) {
  const MemoryNetwork network = random_network({.widths = sample.widths, .seed = 3});
  const SparseImages images = random_images(network.neurons(), sample.images, 4);
  const Categories expected = expected_result(network, images).categories;
  for (const Maker make : kMakers) {
    for (const EngineOptions& options : all) {
      const auto engine = make(network, options);
      engine->set_images(images);
      RunTimes times;
      CAPTURE(engine->kernel());
      CAPTURE(options.full_precision_layers);
      CAPTURE(options.streams);
      CHECK(engine->run(times) == expected);
      CHECK(engine->run(times) == expected);
    }
  }
}

}  // namespace

// Activations of these networks are exact in fp16.
TEST_CASE("fused gives the reference's categories wherever fp16 begins") {
  if (lacks_gpu()) return;
  for (const Case& sample : kCases) {
    std::vector<EngineOptions> all;
    for (int prefix = 0; prefix < static_cast<int>(sample.widths.size()); ++prefix) {
      all.emplace_back().full_precision_layers = prefix;
    }
    check_case(sample, all);
  }
}

TEST_CASE("fused gives the reference's categories by tensor cores, wherever fp16 begins") {
  if (lacks_gpu()) return;
  for (const Case& sample : kCases) {
    const MemoryNetwork network = random_network({.widths = sample.widths, .seed = 3});
    const SparseImages images = random_images(network.neurons(), sample.images, 4);
    const Categories expected = expected_result(network, images).categories;
    for (int prefix = 0; prefix + 1 < static_cast<int>(sample.widths.size()); ++prefix) {
      EngineOptions options;
      options.full_precision_layers = prefix;
      options.use_tensor_cores = true;
      const auto engine = make_fused_engine(network, options);
      CAPTURE(engine->kernel());
      CHECK(engine->kernel().find("mma.sp") != std::string::npos);
      engine->set_images(images);
      RunTimes times;
      for (int run = 0; run < 2; ++run) CHECK(engine->run(times) == expected);
    }
  }
}

TEST_CASE("tensor cores are refused where nothing is theirs") {
  if (lacks_gpu()) return;
  EngineOptions options;
  options.use_tensor_cores = true;
  const MemoryNetwork small = random_network({.widths = {64, 64}});
  CHECK_THROWS_WITH_AS(make_fused_engine(small, options),
                       doctest::Contains("needs fp16 activations, and none of 1 layers"), Error);
  options.full_precision_layers = 0;
  options.weight_bytes = 1;
  CHECK_THROWS_WITH_AS(make_fused_engine(small, options),
                       doctest::Contains("needs activations in shared memory"), Error);
}

TEST_CASE("fused gives the same on any number of streams, in both forms") {
  if (lacks_gpu()) return;
  for (const Case& sample : kCases) {
    std::vector<EngineOptions> all;
    for (const int streams : {2, 5, 64}) {
      EngineOptions& options = all.emplace_back();
      options.streams = streams;
      options.full_precision_layers = 1;
    }
    check_case(sample, all);
  }
}

TEST_CASE("fused streams weights that are to take less memory") {
  if (lacks_gpu()) return;
  for (const Case& sample : kCases) {
    const MemoryNetwork network = random_network({.widths = sample.widths, .seed = 3});
    const SparseImages images = random_images(network.neurons(), sample.images, 4);
    EngineOptions options;
    options.weight_bytes = 1;
    const auto engine = make_fused_engine(network, options);
    CHECK(engine->kernel().find("streamed") != std::string::npos);
    engine->set_images(images);
    RunTimes times;
    for (int run = 0; run < 3; ++run) {
      CHECK(engine->run(times) == expected_result(network, images).categories);
    }
  }
}

TEST_CASE("fused takes other images without being made anew") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {64, 64, 64}});
  for (const Maker make : kMakers) {
    const auto engine = make(network, {});
    for (const std::uint32_t count : {1u, 100u, 33u}) {
      const SparseImages images = random_images(64, count, count);
      engine->set_images(images);
      RunTimes times;
      CHECK(engine->run(times) == expected_result(network, images).categories);
    }
  }
}

}  // namespace winnow::challenge
