#include <doctest/doctest.h>

#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/device/attribute.h"
#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/challenge/random_network.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {
namespace {

// Activations of this network are exact as halves.
const std::vector<std::uint32_t> kWidths = {70, 200, 33, 129, 64, 16};

// What multilayer_kernel can compute.
bool has_clusters() {
  return device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
         device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
}

void check_categories(const MemoryNetwork& network, const EngineOptions& options) {
  const SparseImages images = random_images(network.neurons(), 333, 4);
  const Categories expected = expected_result(network, images).categories;
  const auto engine = make_grouped_engine(network, options);
  engine->set_images(images);
  RunTimes times;
  CAPTURE(engine->kernel());
  CHECK(engine->run(times) == expected);
  CHECK(engine->run(times) == expected);
}

}  // namespace

TEST_CASE("grouped gives the reference's categories wherever one half is enough") {
  if (lacks_gpu()) return;
  for (const float bias : {-1.0f, 0.5f}) {
    CAPTURE(bias);
    const MemoryNetwork network = shared_network(kWidths, {.bias = bias});
    for (int prefix = 0; prefix <= static_cast<int>(network.layers()); ++prefix) {
      CAPTURE(prefix);
      EngineOptions options;
      options.full_precision_layers = prefix;
      check_categories(network, options);
    }
  }
}

TEST_CASE("grouped computes with weights of two halves, and with many inputs") {
  if (lacks_gpu()) return;
  check_categories(shared_network({100, 90, 80}, {.weight_unit = 0.25f + 1.0f / 8192}), {});
  check_categories(shared_network({300, 200, 100}, {.connections = 150}), {});
}

TEST_CASE("grouped runs the first two layers in one launch where their groups meet") {
  if (lacks_gpu()) return;
  for (const std::uint32_t neurons : {64u, 256u, 1008u}) {
    for (const float bias : {-1.0f, 0.5f}) {
      for (const float unit : {0.5f, 0.5f + 1.0f / 2048}) {
        CAPTURE(neurons);
        const MemoryNetwork network =
            class_network(neurons, 3, {.weight_unit = unit, .bias = bias});
        for (const int prefix : {0, 2, 3}) {
          EngineOptions options;
          options.full_precision_layers = prefix;
          CHECK(make_grouped_engine(network, options)->kernel().find("first two layers") !=
                std::string::npos);
          if (unit == 0.5f || prefix == 3) check_categories(network, options);
        }
      }
    }
  }
}

TEST_CASE("grouped takes layers through shared memory where they fit") {
  if (lacks_gpu()) return;
  for (const float bias : {-1.0f, 0.5f}) {
    for (const float unit : {0.5f, 0.5f + 1.0f / 2048}) {
      for (const std::uint32_t neurons : {48u, 500u, 1024u}) {
        CAPTURE(neurons);
        CAPTURE(unit);
        const MemoryNetwork network =
            shared_network(std::vector<std::uint32_t>(5, neurons),
                           {.connections = 24, .weight_unit = unit, .bias = bias});
        EngineOptions options;
        options.full_precision_layers = unit == 0.5f ? 0 : 3;
        const std::string kernel = make_grouped_engine(network, options)->kernel();
        CHECK((kernel.find("in shared memory") != std::string::npos) == has_clusters());
        check_categories(network, options);
      }
    }
  }
}

// More than the SMs of any GPU hold at a time, 16 images each.
TEST_CASE("grouped takes one tile after the other through all layers of a launch") {
  if (lacks_gpu()) return;
  struct Case {
    std::uint32_t neurons;
    float unit;
    int prefix;
  };
  for (const Case& sample : {Case{1600, 0.5f, 0}, Case{1024, 0.5f + 1.0f / 2048, 3}}) {
    CAPTURE(sample.neurons);
    const MemoryNetwork network =
        shared_network(std::vector<std::uint32_t>(5, sample.neurons),
                       {.connections = 12, .weight_unit = sample.unit, .bias = 0.5f});
    EngineOptions options;
    options.full_precision_layers = sample.prefix;
    const SparseImages images = random_images(sample.neurons, 6000, 6);
    const auto engine = make_grouped_engine(network, options);
    CHECK((engine->kernel().find("in shared memory") != std::string::npos) == has_clusters());
    engine->set_images(images);
    RunTimes times;
    const Categories expected = expected_result(network, images).categories;
    CHECK(expected.size() > 4300);
    CHECK(engine->run(times) == expected);
    CHECK(engine->run(times) == expected);
  }
}

TEST_CASE("grouped drops dead images through many layers") {
  if (lacks_gpu()) return;
  // Weights whose sums mostly are below the bias: a few more die in each layer.
  const MemoryNetwork network = shared_network(std::vector<std::uint32_t>(30, 96), {.bias = -2});
  const SparseImages images = random_images(96, 3000, 5);
  const ExpectedResult expected = expected_result(network, images);
  CHECK(expected.live.back() < expected.live.front());
  const auto engine = make_grouped_engine(network, {});
  engine->set_images(images);
  RunTimes times;
  CHECK(engine->run(times) == expected.categories);
  CHECK(engine->run(times) == expected.categories);
}

}  // namespace winnow::challenge
