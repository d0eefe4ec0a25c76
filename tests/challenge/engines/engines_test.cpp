#include "runtime/challenge/engines/engines.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "runtime/base/processor.h"
#include "runtime/base/random.h"
#include "runtime/challenge/engines/cpu/cpu_engine.h"
#include "runtime/challenge/engines/gpu/gpu_engines.h"
#include "tests/challenge/random_network.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

using Widths = std::vector<std::uint32_t>;
using EngineMaker =
    std::function<std::unique_ptr<Engine>(const Network&, const EngineOptions& options)>;

struct NamedMaker {
  std::string name;
  EngineMaker make;
};

// The reference, and `cpu` with every instruction set of this machine.
std::vector<NamedMaker> cpu_engines() {
  std::vector<NamedMaker> makers = {
      {"reference", [](const Network& network, const EngineOptions& options) {
         return make_engine("reference", network, options);
       }}};
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (!processor_has(isa)) continue;
    makers.push_back({"cpu " + std::string(to_string(isa)),
                      [isa](const Network& network, const EngineOptions& options) {
                        return make_cpu_engine(network, options, isa);
                      }});
  }
  return makers;
}

void check_run(Engine& engine, const ExpectedResult& expected) {
  RunTimes times;
  CHECK(engine.run(times) == expected.categories);
  CHECK(engine.live() == expected.live);
  CHECK(times.inference_ms > 0);
}

void check_engines(const Network& network, const SparseImages& images,
                   const std::vector<int>& thread_counts) {
  const ExpectedResult expected = expected_result(network, images);
  for (const NamedMaker& maker : cpu_engines()) {
    for (const int threads : thread_counts) {
      CAPTURE(maker.name);
      CAPTURE(threads);
      const auto engine = maker.make(network, {.threads = threads, .progress = nullptr});
      engine->set_images(images);
      check_run(*engine, expected);
      check_run(*engine, expected);
    }
  }
}

// Layer l takes 1 from the number of ones that an image has, so that an image with k ones is alive
// before layer l if k > l.
MemoryNetwork countdown(std::uint32_t layers, std::uint32_t neurons) {
  SparseLayer first{
      .inputs = neurons, .row_begin = {0, neurons}, .input = {}, .value = {}, .bias = {-1}};
  for (std::uint32_t i = 0; i < neurons; ++i) first.input.push_back(i);
  first.value.assign(neurons, 1);
  std::vector<SparseLayer> all = {first};
  while (all.size() < layers) {
    all.push_back({.inputs = 1, .row_begin = {0, 1}, .input = {0}, .value = {1}, .bias = {-1}});
  }
  return MemoryNetwork("countdown", std::move(all));
}

SparseImages images_with_ones(const std::vector<std::uint32_t>& ones, std::uint32_t neurons) {
  SparseImages images{.neurons = neurons, .row_begin = {0}, .neuron = {}};
  for (const std::uint32_t count : ones) {
    for (std::uint32_t n = 0; n < count; ++n) images.neuron.push_back(n);
    images.row_begin.push_back(images.ones());
  }
  return images;
}

// Weights and biases as they come, so that sums are rounded.
MemoryNetwork rounding_network(const Widths& widths, std::uint64_t seed) {
  const MemoryNetwork exact = random_network({.widths = widths, .seed = seed});
  Random random(seed);
  std::vector<SparseLayer> layers;
  for (std::uint32_t l = 0; l < exact.layers(); ++l) {
    SparseLayer layer = exact.layer(l);
    for (float& value : layer.value) value *= static_cast<float>(random.uniform(0.5, 1.5));
    for (float& bias : layer.bias) bias = static_cast<float>(random.uniform(-3, 0.1));
    layers.push_back(std::move(layer));
  }
  return MemoryNetwork("rounding network", std::move(layers));
}

}  // namespace

TEST_CASE("the CPU engines give the categories of plain loops on ragged networks") {
  const std::vector<Widths> widths = {
      {1, 1},         {33, 31}, {37, 50, 3, 64, 29}, {64, 64, 64, 64, 64, 64}, {200, 7, 129, 200},
      {300, 511, 257}};
  for (std::size_t w = 0; w < widths.size(); ++w) {
    CAPTURE(widths[w]);
    const MemoryNetwork network = random_network({.widths = widths[w], .seed = w + 1});
    for (const std::uint32_t images : {1, 2, 15, 16, 17, 33, 70}) {
      CAPTURE(images);
      check_engines(network, random_images(network.neurons(), images, w + 2), {1, 3});
    }
  }
}

TEST_CASE("images that die at every layer leave the others alone") {
  constexpr std::uint32_t kLayers = 30, kNeurons = 32;
  Random random(3);
  std::vector<std::uint32_t> ones(2500);
  // Most die early, some live to the end, as in the challenge.
  for (std::uint32_t& count : ones) {
    count = random.chance(0.05) ? kNeurons : static_cast<std::uint32_t>(random.below(4));
    while (count > 0 && count < kNeurons && random.chance(0.6)) ++count;
  }
  const SparseImages images = images_with_ones(ones, kNeurons);
  const MemoryNetwork network = countdown(kLayers, kNeurons);
  const ExpectedResult expected = expected_result(network, images);
  for (std::uint32_t l = 0; l <= kLayers; ++l) {
    CHECK(expected.live[l] == std::ranges::count_if(ones, [&](auto count) { return count > l; }));
  }
  CHECK(expected.live[1] < 2000);
  CHECK(expected.live[kLayers] > 50);
  check_engines(network, images, {1, 2, 5});
}

TEST_CASE("images may all be dead, from the start or later") {
  const MemoryNetwork network = countdown(5, 4);
  check_engines(network, images_with_ones({}, 4), {1, 2});
  check_engines(network, images_with_ones(std::vector<std::uint32_t>(70), 4), {1, 2});
  check_engines(network, images_with_ones(std::vector<std::uint32_t>(700, 3), 4), {1, 2});
}

TEST_CASE("results are the same for any number of threads and blocks") {
  const MemoryNetwork network = rounding_network({90, 200, 150, 200, 170, 130}, 11);
  const SparseImages images = random_images(90, 600, 12);
  RunTimes times;
  const auto first = make_engine("cpu", network, {.threads = 1, .progress = nullptr});
  first->set_images(images);
  const Categories expected = first->run(times);
  CHECK(expected.size() > 10);
  CHECK(expected.size() < 500);
  for (const int threads : {1, 2, 3, 8, 50}) {
    for (const int blocks : {1, 3, 64, 1000}) {
      CAPTURE(threads);
      CAPTURE(blocks);
      const auto engine =
          make_engine("cpu", network, {.threads = threads, .blocks = blocks, .progress = nullptr});
      engine->set_images(images);
      CHECK(engine->run(times) == expected);
      CHECK(engine->live() == first->live());
    }
  }
}

TEST_CASE("the reference does not depend on the number of threads") {
  const MemoryNetwork network = rounding_network({90, 80, 70}, 13);
  const SparseImages images = random_images(90, 50, 14);
  check_engines(network, slice(images, 0, 0), {1});
  RunTimes times;
  const auto one = make_engine("reference", network, {.threads = 1, .progress = nullptr});
  const auto many = make_engine("reference", network, {.threads = 7, .progress = nullptr});
  one->set_images(images);
  many->set_images(images);
  CHECK(one->run(times) == many->run(times));
  CHECK(one->live() == many->live());
}

TEST_CASE("CPU engines report progress, stop when it throws, and go on afterwards") {
  const MemoryNetwork network = random_network({.widths = {50, 50, 50, 50}, .seed = 3});
  for (const std::uint32_t count : {5, 400}) {  // shared by blocks, by images
    const SparseImages images = random_images(50, count, 4);
    const ExpectedResult expected = expected_result(network, images);
    for (const NamedMaker& maker : cpu_engines()) {
      CAPTURE(maker.name);
      std::uint32_t last = 0;
      bool stops = false;
      EngineOptions options{.threads = 2, .progress = nullptr};
      options.progress = [&](std::uint32_t done, std::uint32_t all) {
        CHECK(all == 3);
        CHECK(done >= last);
        CHECK(done <= all);
        last = done;
        if (stops) fail(ErrorCode::interrupted, "stopped");
      };
      const auto engine = maker.make(network, options);
      engine->set_images(images);
      for (const bool stop : {false, true, false}) {
        last = 0;
        stops = stop;
        RunTimes times;
        if (stop) {
          CHECK(error_of([&] { engine->run(times); }) == ErrorCode::interrupted);
        } else {
          check_run(*engine, expected);
          CHECK(last == 3);
        }
      }
    }
  }
}

TEST_CASE("CPU engines refuse what makes no sense") {
  const MemoryNetwork network = countdown(2, 4);
  for (const NamedMaker& maker : cpu_engines()) {
    CAPTURE(maker.name);
    const auto engine = maker.make(network, {.progress = nullptr});
    RunTimes times;
    CHECK(error_of([&] { engine->run(times); }) == ErrorCode::usage);
    CHECK(error_of([&] { engine->set_images(images_with_ones({1}, 5)); }) == ErrorCode::usage);
    CHECK(error_of([&] { maker.make(network, {.threads = -1, .progress = nullptr}); }) ==
          ErrorCode::usage);
  }
  CHECK(message_of([&] { make_engine("cpu", network, {.blocks = 0, .progress = nullptr}); }) ==
        "blocks is 0, expected 1 to 1048576");
}

TEST_CASE("a misspelt engine is named with the nearest known one") {
  const MemoryNetwork network = countdown(2, 4);
  CHECK(message_of([&] { make_engine("referense", network, {}); }) ==
        "engine 'referense' is not known; did you mean 'reference'?");
  CHECK(error_of([&] { make_engine("", network, {}); }) == ErrorCode::usage);
  const auto names = engine_names();
  for (const std::string name : {"reference", "cpu", "fused"}) {
    CHECK(std::ranges::count(names, name) == 1);
  }
}

TEST_CASE("streams are for engines that divide images over them") {
  const auto refusal = [](const std::string& engine, const EngineOptions& options) {
    return message_of([&] { check_engine(engine, options); });
  };
  for (const std::string& engine : engine_names()) {
    CAPTURE(engine);
    EngineOptions options;
    CHECK(refusal(engine, options).empty());
    for (const int streams : {-1, 257}) {
      options.streams = streams;
      CHECK(refusal(engine, options) ==
            "streams is " + std::to_string(streams) + ", expected 0 to 256");
    }
    options.streams = 256;
    const bool divides = std::ranges::find(kStreamEngines, engine) != kStreamEngines.end();
    CHECK(refusal(engine, options) == (divides
                                           ? ""
                                           : "engine " + engine +
                                                 ": does not divide images over streams; tiled, "
                                                 "cusparse-spmm and fused do"));
  }
  EngineOptions streamed;
  streamed.streams = 2;
  streamed.weight_bytes = 1;
  CHECK(refusal("fused", streamed) ==
        "engine fused: weights of limited memory come from host memory, for one stream only");
}

}  // namespace winnow::challenge
