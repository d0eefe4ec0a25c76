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
// The widest needs the forms of 8 and of 4 images to a row of shared memory, and has room for two
// buffers of rows instead of three. With the most images blocks take several tiles.
const std::vector<Case> kCases = {{{1, 1}, 1},
                                  {{33, 31}, 32},
                                  {{37, 50, 3, 64, 29}, 300},
                                  {{64, 90, 40, 64}, 20000},
                                  {{200, 7, 129, 200}, 31},
                                  {{1000, 1030, 1024}, 130},
                                  {{2100, 60, 2500, 40}, 70},
                                  {{40, 5000, 64, 3900}, 2500}};

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

TEST_CASE("fused sums fp16 by tensor cores where 16 images fit and halves hold the weights") {
  if (lacks_gpu()) return;
  const auto kernel_of = [](std::uint32_t width, float weight, int full_precision_layers) {
    SparseLayer layer{
        .inputs = width, .row_begin = {0, 1}, .input = {0}, .value = {weight}, .bias = {}};
    layer.bias.resize(width);
    layer.row_begin.resize(width + 1, 1);
    EngineOptions options;
    options.full_precision_layers = full_precision_layers;
    return make_fused_engine(MemoryNetwork("n", {layer, layer}), options)->kernel();
  };
  const auto has_mma = [](const std::string& kernel) { return kernel.find("mma.sp") < 100; };
  CHECK(has_mma(kernel_of(64, -63.9f, 0)));
  CHECK(has_mma(kernel_of(64, 1e-9f, 1)));
  CHECK_FALSE(has_mma(kernel_of(64, 64.0f, 1)));
  CHECK_FALSE(has_mma(kernel_of(64, 1.0f, 2)));
  CHECK_FALSE(has_mma(kernel_of(4096, 1.0f, 0)));
}

TEST_CASE("fused in shared memory takes two streams by itself, and one where it gathers") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {64, 64, 64}});
  const auto has = [](const Engine& engine, const std::string& text) {
    return engine.kernel().find(text) != std::string::npos;
  };
  for (const Maker make : kMakers) {
    const auto engine = make(network, {});
    engine->set_images(random_images(64, 100, 1));
    CHECK(has(*engine, "resident") == has(*engine, "in 2 blocks on 2 streams"));
    EngineOptions one;
    one.streams = 1;
    CHECK_FALSE(has(*make(network, one), "streams"));
  }
}

TEST_CASE("weights beyond two halves are summed by FMAs") {
  if (lacks_gpu()) return;
  const SparseLayer layer{.inputs = 2,
                          .row_begin = {0, 1, 3},
                          .input = {0, 0, 1},
                          .value = {100, 1, 0.5f},
                          .bias = {-101, 0}};
  const MemoryNetwork network("n", {layer, layer});
  const SparseImages images = random_images(2, 40, 4);
  EngineOptions options;
  options.full_precision_layers = 0;
  const auto engine = make_fused_engine(network, options);
  engine->set_images(images);
  RunTimes times;
  CHECK(engine->run(times) == expected_result(network, images).categories);
}

TEST_CASE("fused gives the same on any number of streams, in both forms") {
  if (lacks_gpu()) return;
  for (const Case& sample : kCases) {
    std::vector<EngineOptions> all;
    for (const int streams : {1, 2, 5, 64}) {
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
