// What an engine says of itself, and several of them at a time, through the C ABI alone.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "winnow.h"

namespace {

std::string golden_bytes() {
  std::ifstream file(WINNOW_GOLDEN_MODEL, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

winnow_options on_cpu() {
  winnow_options options = {};
  options.struct_size = sizeof options;
  options.device = "cpu";
  options.threads = 1;
  return options;
}

// Released at the end of a test.
struct Loaded {
  explicit Loaded(const winnow_options& options) {
    const std::string bytes = golden_bytes();
    REQUIRE(winnow_load_memory(bytes.data(), bytes.size(), &options, &engine) == WINNOW_OK);
  }
  ~Loaded() { winnow_free(engine); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  winnow_engine* engine = nullptr;
};

using Input = std::array<float, 9>;
using Output = std::array<float, 2>;

Input input_of(int seed) {
  Input input;
  for (int i = 0; i < 9; ++i) {
    input[static_cast<std::size_t>(i)] = static_cast<float>((i * 7 + seed) % 11) / 11;
  }
  return input;
}

Output run(winnow_engine* engine, const Input& input) {
  Output output = {};
  CHECK(winnow_run(engine, input.data(), 1, output.data()) == WINNOW_OK);
  return output;
}

}  // namespace

TEST_CASE("an engine of the C ABI says what it takes and gives") {
  winnow_options options = on_cpu();
  options.batch = 4;
  const Loaded loaded(options);
  CHECK(winnow_batch(loaded.engine) == 4);

  std::array<std::int64_t, 4> sizes = {-1, -1, -1, -1};
  CHECK(winnow_input_shape(loaded.engine, sizes.data(), 4) == 3);
  CHECK(sizes == std::array<std::int64_t, 4>{1, 3, 3, -1});
  sizes = {-1, -1, -1, -1};
  CHECK(winnow_input_shape(loaded.engine, sizes.data(), 2) == 3);
  CHECK(sizes == std::array<std::int64_t, 4>{1, 3, -1, -1});
  CHECK(winnow_input_shape(loaded.engine, nullptr, 4) == 3);
  CHECK(winnow_output_shape(loaded.engine, sizes.data(), 4) == 1);
  CHECK(sizes[0] == 2);

  float mean = -1, deviation = -1;
  CHECK(winnow_preprocessing(loaded.engine, &mean, &deviation, 1) == 1);
  CHECK(mean == 0.5f);
  CHECK(deviation == 0.25f);
  CHECK(winnow_preprocessing(loaded.engine, nullptr, nullptr, 8) == 1);

  CHECK(winnow_classes(loaded.engine) == 2);
  CHECK(std::strlen(winnow_class_name(loaded.engine, 1)) > 0);
  CHECK(winnow_class_name(loaded.engine, 2) == nullptr);
  CHECK(winnow_class_name(loaded.engine, -1) == nullptr);
}

TEST_CASE("an engine of the C ABI says what runs, and is compared with the reference") {
  const Loaded loaded(on_cpu());
  const std::string plan = winnow_plan_json(loaded.engine);
  CHECK(plan.starts_with("{\"version\":\"" WINNOW_TEST_VERSION));
  CHECK(plan.find("\"device\":\"cpu (") != std::string::npos);
  CHECK(plan.find("\"batch\":1,\"precision\":\"f32\"") != std::string::npos);
  CHECK(plan.find("\"name\":\"conv\"") != std::string::npos);
  CHECK(plan.find("\"kernel\":\"") != std::string::npos);

  double worst = -1;
  CHECK(winnow_verify(loaded.engine, &worst) == WINNOW_OK);
  CHECK(worst >= 0);
  CHECK(worst < 1e-5);
  CHECK(winnow_verify(loaded.engine, nullptr) == WINNOW_OK);
}

TEST_CASE("functions of the C ABI take no engine for an empty one") {
  CHECK(winnow_batch(nullptr) == 0);
  CHECK(winnow_input_shape(nullptr, nullptr, 0) == 0);
  CHECK(winnow_classes(nullptr) == 0);
  CHECK(winnow_class_name(nullptr, 0) == nullptr);
  CHECK(winnow_preprocessing(nullptr, nullptr, nullptr, 0) == 0);
  CHECK(std::string(winnow_plan_json(nullptr)).empty());
  CHECK(winnow_verify(nullptr, nullptr) == WINNOW_USAGE);
  CHECK(std::string(winnow_version()).starts_with(WINNOW_TEST_VERSION));
}

TEST_CASE("a model in memory is refused as a file is") {
  std::string bytes = golden_bytes();
  const winnow_options options = on_cpu();
  winnow_engine* engine = nullptr;
  CHECK(winnow_load_memory(nullptr, 1, &options, &engine) == WINNOW_USAGE);
  CHECK(winnow_load_memory(bytes.data(), 0, &options, &engine) == WINNOW_BAD_FILE);
  CHECK(winnow_load_memory(bytes.data(), bytes.size() - 1, &options, &engine) == WINNOW_BAD_FILE);
  CHECK(std::string(winnow_last_error()).starts_with("model in memory: "));
  bytes[bytes.size() / 2] ^= 1;
  CHECK(winnow_load_memory(bytes.data(), bytes.size(), &options, &engine) == WINNOW_BAD_FILE);
  CHECK(engine == nullptr);
}

TEST_CASE("a caller's log hears what was planned and what is wrong with the cache") {
  struct Line {
    winnow_log_level level;
    std::string text;
  };
  std::vector<Line> lines;
  winnow_options options = on_cpu();
  options.cache_folder = "/proc/none";
  options.log_user = &lines;
  options.log = [](void* user, winnow_log_level level, const char* line) {
    static_cast<std::vector<Line>*>(user)->push_back({level, line});
  };
  const Loaded loaded(options);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].level == WINNOW_LOG_WARNING);
  CHECK(lines[0].text == winnow_notice(loaded.engine));
  CHECK(lines[1].level == WINNOW_LOG_INFO);
  CHECK(lines[1].text.starts_with(winnow_device(loaded.engine)));
  CHECK(lines[1].text.find(" steps planned in ") != std::string::npos);
}

TEST_CASE("a sentence becomes the tokens of the model's vocabulary") {
  const winnow_options options = on_cpu();
  winnow_engine* engine = nullptr;
  REQUIRE(winnow_load(WINNOW_TEXT_MODEL, &options, &engine) == WINNOW_OK);
  CHECK(winnow_input_size(engine) == 3);
  CHECK(winnow_preprocessing(engine, nullptr, nullptr, 0) == 0);
  std::array<float, 3> input = {9, 9, 9};
  std::int64_t unknown = 9;
  CHECK(winnow_tokenize(engine, "A film!", input.data(), &unknown) == WINNOW_OK);
  CHECK(input == std::array<float, 3>{1, 2, 1});
  CHECK(unknown == 2);
  CHECK(winnow_tokenize(engine, "Film", input.data(), nullptr) == WINNOW_OK);
  CHECK(input == std::array<float, 3>{2, 0, 0});
  CHECK(winnow_tokenize(engine, "isn't film film film", input.data(), &unknown) == WINNOW_OK);
  CHECK(input == std::array<float, 3>{1, 3, 2});  // cut
  CHECK(unknown == 1);

  Output output = {};
  CHECK(winnow_run(engine, input.data(), 1, output.data()) == WINNOW_OK);
  CHECK(output == Output{1, 3});  // the largest of (0, 0), (-2, 3) and (1, -1)
  CHECK(winnow_tokenize(engine, nullptr, input.data(), nullptr) == WINNOW_USAGE);
  winnow_free(engine);

  const Loaded images(options);
  CHECK(winnow_tokenize(images.engine, "film", Input{}.data(), nullptr) == WINNOW_USAGE);
  CHECK(std::strstr(winnow_last_error(), "no vocabulary"));
}

// Engines measure which kernels are fastest and may choose different ones, whose sums round
// differently: what an engine gave beside others is compared with what it gives alone.
TEST_CASE("engines of the C ABI run in threads of their own") {
  constexpr int kThreads = 4, kRuns = 50;
  const winnow_options options = on_cpu();
  std::array<winnow_engine*, kThreads> engines = {};
  std::array<std::vector<Output>, kThreads> outputs;
  std::array<std::string, kThreads> errors;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto at = static_cast<std::size_t>(t);
      const std::string bytes = golden_bytes();
      if (winnow_load_memory(bytes.data(), bytes.size(), &options, &engines[at]) != WINNOW_OK)
        return;
      for (int i = 0; i < kRuns; ++i) {
        const Input input = input_of(t * kRuns + i);
        Output output = {};
        if (winnow_run(engines[at], input.data(), 1, output.data()) != WINNOW_OK) return;
        outputs[at].push_back(output);
      }
      winnow_engine* none = nullptr;
      winnow_load(("no-such-" + std::to_string(t)).c_str(), &options, &none);
      errors[at] = winnow_last_error();  // of this thread
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    const auto at = static_cast<std::size_t>(t);
    REQUIRE(outputs[at].size() == kRuns);
    int wrong = 0;
    for (int i = 0; i < kRuns; ++i) {
      wrong +=
          run(engines[at], input_of(t * kRuns + i)) != outputs[at][static_cast<std::size_t>(i)];
    }
    CHECK(wrong == 0);
    CHECK(errors[at].starts_with("no-such-" + std::to_string(t)));
    winnow_free(engines[at]);
  }
}
