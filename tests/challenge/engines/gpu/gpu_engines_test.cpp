#include "runtime/challenge/engines/gpu/gpu_engines.h"

#include <doctest/doctest.h>

#include <functional>

#include "runtime/device/memory_use.h"
#include "tests/challenge/random_network.h"
#include "tests/gpu/gpu_case.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

using Widths = std::vector<std::uint32_t>;

struct Case {
  Widths widths;
  std::uint32_t images;
};
const std::vector<Case> kCases = {{{1, 1}, 1},
                                  {{33, 31}, 32},
                                  {{37, 50, 3, 64, 29}, 300},
                                  {{64, 64, 64, 64, 64, 64}, 65},
                                  {{200, 7, 129, 200}, 31},
                                  {{1000, 1030, 1024}, 130}};

EngineOptions exact_options() {
  EngineOptions options;
  options.full_precision_layers = 1 << 20;
  return options;
}

void for_each_engine(const std::function<void(const std::string&)>& check) {
  for (const std::string_view name : kGpuEngines) {
    CAPTURE(std::string(name));
    check(std::string(name));
  }
}

void check_run(Engine& engine, const ExpectedResult& expected) {
  RunTimes times;
  CHECK(engine.run(times) == expected.categories);
  CHECK(times.inference_ms > 0);
  if (!engine.live().empty()) CHECK(engine.live() == expected.live);
}

}  // namespace

TEST_CASE("the samples have images that live and images that die") {
  bool has_death = false, has_life = false;
  for (const Case& sample : kCases) {
    const MemoryNetwork network = random_network({.widths = sample.widths});
    const ExpectedResult result =
        expected_result(network, random_images(network.neurons(), sample.images, 2));
    has_death |= result.live.back() < result.live.front();
    has_life |= sample.images > 100 && result.live.back() > sample.images / 4;
  }
  CHECK(has_death);
  CHECK(has_life);
}

TEST_CASE("every GPU engine gives the categories of the reference on ragged networks") {
  if (lacks_gpu()) return;
  for (const Case& sample : kCases) {
    CAPTURE(sample.widths);
    const MemoryNetwork network = random_network({.widths = sample.widths});
    const SparseImages images = random_images(network.neurons(), sample.images, 2);
    const ExpectedResult expected = expected_result(network, images);
    for_each_engine([&](const std::string& name) {
      const auto engine = make_gpu_engine(name, network, exact_options());
      engine->set_images(images);
      check_run(*engine, expected);
      check_run(*engine, expected);
    });
  }
}

// Small enough for compute-sanitizer's racecheck, which takes minutes for the others.
TEST_CASE("small: every GPU engine gives the categories of the reference") {
  if (lacks_gpu()) return;
  for (const Case& sample : {Case{{37, 50, 29, 40}, 70}, Case{{2100, 40, 33}, 5}}) {
    CAPTURE(sample.widths);
    const MemoryNetwork network = random_network({.widths = sample.widths});
    const SparseImages images = random_images(network.neurons(), sample.images, 2);
    const ExpectedResult expected = expected_result(network, images);
    for_each_engine([&](const std::string& name) {
      for (const std::size_t weight_bytes : {0, 1}) {  // 1: streamed by the engine that can
        if (weight_bytes > 0 && name != "fused") continue;
        EngineOptions options;
        options.full_precision_layers = 1;
        options.weight_bytes = weight_bytes;
        const auto engine = make_gpu_engine(name, network, options);
        engine->set_images(images);
        check_run(*engine, expected);
      }
    });
  }
}

TEST_CASE("every GPU engine gives the same in parts of images and with half floats") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {70, 45, 101, 64}, .seed = 5});
  const SparseImages images = random_images(70, 101, 6);
  const ExpectedResult expected = expected_result(network, images);
  for_each_engine([&](const std::string& name) {
    for (const std::uint32_t at_once : {1u, 32u, 100u}) {
      CAPTURE(at_once);
      EngineOptions options;
      options.images_at_once = at_once;
      const auto engine = make_gpu_engine(name, network, options);
      engine->set_images(images);
      check_run(*engine, expected);
      if (at_once == 32) CHECK(engine->kernel().find(" images at a time") != std::string::npos);
    }
  });
}

TEST_CASE("engines that divide images over streams give the same categories on any number") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {70, 45, 101, 64}, .seed = 5});
  for (const std::uint32_t count : {0u, 5u, 300u}) {
    const SparseImages images = random_images(70, count, 6);
    const ExpectedResult expected = expected_result(network, images);
    for (const std::string_view name : kStreamEngines) {
      for (const int streams : {2, 3, 64, kMostStreams}) {
        for (const std::uint32_t at_once : {0u, 3u, 100u}) {
          CAPTURE(std::string(name));
          CAPTURE(count);
          CAPTURE(streams);
          CAPTURE(at_once);
          EngineOptions options = exact_options();
          options.streams = streams;
          options.images_at_once = at_once;
          const auto engine = make_gpu_engine(std::string(name), network, options);
          engine->set_images(images);
          check_run(*engine, expected);
          check_run(*engine, expected);
          CHECK(engine->kernel().find("blocks on " + std::to_string(streams) + " streams") !=
                std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("engines on several streams survive the death of all images, and then run others") {
  if (lacks_gpu()) return;
  const MemoryNetwork network =
      random_network({.widths = {40, 40, 40}, .seed = 7, .highest_bias = -1});
  const SparseImages dark{.neurons = 40, .row_begin = std::vector<std::uint64_t>(70), .neuron = {}};
  for (const std::string_view name : kStreamEngines) {
    CAPTURE(std::string(name));
    EngineOptions options = exact_options();
    options.streams = 4;
    const auto engine = make_gpu_engine(std::string(name), network, options);
    for (const std::uint32_t count : {90u, 0u, 2u, 300u}) {
      const SparseImages images = random_images(40, count, 9);
      for (const SparseImages* these : {&images, &dark}) {
        engine->set_images(*these);
        check_run(*engine, expected_result(network, *these));
      }
    }
  }
}

TEST_CASE("cusparse-spmm names the algorithms that it found fastest, a layer each") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {64, 50, 40}});
  const auto engine = make_gpu_engine("cusparse-spmm", network, exact_options());
  engine->set_images(random_images(64, 40, 2));
  const std::string kernel = engine->kernel();
  CAPTURE(kernel);
  const bool one_for_both = kernel.find(" of 2)") != std::string::npos;
  const bool one_each = kernel.find(" of 1, CSR_ALG") != std::string::npos;
  CHECK((one_for_both || one_each));
  CHECK(kernel.find(" (CSR_ALG") != std::string::npos);
}

TEST_CASE("every GPU engine survives the death of all images, and then runs others") {
  if (lacks_gpu()) return;
  const MemoryNetwork network =
      random_network({.widths = {40, 40, 40}, .seed = 7, .highest_bias = -1});
  const SparseImages dark = slice(random_images(40, 1, 8), 0, 0);
  const SparseImages empty{
      .neurons = 40, .row_begin = std::vector<std::uint64_t>(70), .neuron = {}};
  SparseImages weak = empty;  // a single one each: a weight of at most 1 and a bias of at most -1
  for (std::uint32_t i = 0; i < weak.images(); ++i) {
    weak.neuron.push_back(i % 40);
    weak.row_begin[i + 1] = i + 1;
  }
  const SparseImages many = random_images(40, 90, 9);
  for_each_engine([&](const std::string& name) {
    const auto engine = make_gpu_engine(name, network, exact_options());
    for (const SparseImages& images : {many, weak, empty, dark, many}) {
      CAPTURE(images.images());
      engine->set_images(images);
      check_run(*engine, expected_result(network, images));
    }
  });
  CHECK(expected_result(network, weak).live[1] == 0);
  CHECK(expected_result(network, many).categories.size() > 0);
}

TEST_CASE("GPU engines report progress, stop when it throws, and refuse images that do not fit") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {50, 50, 50, 50}, .seed = 3});
  const SparseImages images = random_images(50, 40, 4);
  const ExpectedResult expected = expected_result(network, images);
  for_each_engine([&](const std::string& name) {
    std::uint32_t last = 0, stop_at = 4;
    EngineOptions options = exact_options();
    options.progress = [&](std::uint32_t done, std::uint32_t all) {
      CHECK(all == 3);
      CHECK(done >= last);
      last = done;
      if (done >= stop_at) fail(ErrorCode::interrupted, "stopped");
    };
    const auto engine = make_gpu_engine(name, network, options);
    RunTimes times;
    CHECK(error_of([&] { engine->run(times); }) == ErrorCode::usage);
    CHECK(error_of([&] { engine->set_images(random_images(51, 3, 4)); }) == ErrorCode::usage);
    engine->set_images(images);
    check_run(*engine, expected);
    CHECK(last == 3);
    last = 0;
    stop_at = 1;
    CHECK(error_of([&] { engine->run(times); }) == ErrorCode::interrupted);
    last = 0;
    stop_at = 4;
    check_run(*engine, expected);
  });
}

TEST_CASE("the memory that a GPU engine takes is counted, and given back") {
  if (lacks_gpu()) return;
  const MemoryNetwork network = random_network({.widths = {70, 45, 64}});
  for_each_engine([&](const std::string& name) {
    const std::size_t before = device_memory_use.now();
    device_memory_use.restart_peak();
    {
      const auto engine = make_gpu_engine(name, network, exact_options());
      engine->set_images(random_images(70, 40, 2));
      RunTimes times;
      engine->run(times);
      CHECK(device_memory_use.now() > before);
    }
    CHECK(device_memory_use.now() == before);
    CHECK(device_memory_use.peak() > before);
  });
}

TEST_CASE("a GPU that is not there is an error of the device") {
  const MemoryNetwork network = random_network({.widths = {4, 4}});
  for_each_engine([&](const std::string& name) {
    EngineOptions options;
    options.gpu = 99;
    CHECK(error_of([&] { make_gpu_engine(name, network, options); }) == ErrorCode::device);
  });
}

}  // namespace winnow::challenge
