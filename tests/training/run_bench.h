// Whole runs of prune on small IDX files, for tests.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "prune/prune_program.h"
#include "runtime/base/file.h"
#include "runtime/model/safetensors.h"
#include "tests/config/config_text.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"
#include "tests/training/images.h"

namespace winnow {

inline void write_big_endian(std::ofstream& file, std::int64_t value) {
  for (const int shift : {24, 16, 8, 0}) file.put(static_cast<char>(value >> shift & 0xff));
}

inline void write_idx(const std::string& folder, const std::string& split, const ImageSet& images) {
  std::ofstream pixels(folder + "/" + split + "-images-idx3-ubyte", std::ios::binary);
  for (const std::int64_t word : {std::int64_t{0x803}, images.count, images.height, images.width}) {
    write_big_endian(pixels, word);
  }
  pixels.write(reinterpret_cast<const char*>(images.pixels.data()),
               static_cast<std::streamsize>(images.pixels.size()));
  std::ofstream labels(folder + "/" + split + "-labels-idx1-ubyte", std::ios::binary);
  write_big_endian(labels, 0x801);
  write_big_endian(labels, images.count);
  for (const std::int32_t label : images.labels) labels.put(static_cast<char>(label));
}

inline constexpr char kConfig[] = R"(
name: stripes
device: cpu
threads: 1
data: {format: idx, validation: 64}
augment: {crop_padding: 1}
model:
  graph:
    name: small
    nodes:
      - {name: image, op: input, shape: [1, 8, 8]}
      - {name: conv, op: conv2d, out_channels: 8, kernel: 3, padding: 1, bias: false}
      - {name: norm, op: batch_norm}
      - {name: relu, op: relu}
      - {name: pool, op: max_pool, kernel: 2}
      - {name: flatten, op: flatten}
      - {name: drop, op: dropout, probability: 0.2}
      - {name: linear, op: linear, out_features: 4}
train: {epochs: 2, batch_size: 32, learning_rate: 0.05, validate_every: 1}
prune:
  start: dense
  iter_nr: 8
  batch_nr: 5
  pool_size: 3
  target_sparsity: 0.6
  learning_rate: 0.02
)";

// A layer more that can be removed, behind the first one.
inline void add_middle(Graph& graph, const std::string& name = "middle") {
  const Node conv{name, Conv{.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}}, {"relu"}};
  graph.nodes.insert(graph.nodes.begin() + 4, {conv, {name + "_relu", Relu{}, {name}}});
  graph.nodes[6].inputs = {name + "_relu"};
  fill_input_sizes(graph);
}

// A folder with data and runs in it.
class Bench {
 public:
  // Every configuration is changed by `change`, if there is one.
  explicit Bench(std::function<void(RunConfig&)> change = {}, std::int64_t train = 320,
                 std::int64_t test = 64)
      : change_(std::move(change)) {
    write_idx(directory_.path(), "train", striped_images(train, 1));
    write_idx(directory_.path(), "t10k", striped_images(test, 2));
  }

  RunConfig config(const std::string& run) const {
    RunConfig result = parse_config(kConfig);
    result.data.path = directory_.path();
    result.output = folder(run);
    if (change_) change_(result);
    return result;
  }
  std::string folder(const std::string& run) const { return directory_ / run; }
  Model pruned(const std::string& run) const {
    return load_model(folder(run) + "/pruned.safetensors");
  }

  // Runs until `batches` batches were trained, then dies as if killed: nothing more is written.
  // A checkpoint was written after every stretch of training.
  void run_until_killed(const std::string& run, std::int64_t batches) const {
    std::int64_t asked = 0;
    const auto die = [&]() -> bool {
      if (++asked >= batches) fail(ErrorCode::internal, "killed");
      return false;
    };
    RunConfig often = config(run);
    often.checkpoint_seconds = 1e-9;
    const auto killed = [&] {
      run_prune(often, {.use = FolderUse::fresh, .is_quiet = true, .should_stop = die});
    };
    REQUIRE(error_of(killed) == ErrorCode::internal);
  }

  // Goes on to the end.
  void resume(const std::string& run) const {
    run_prune(config(run), {.use = FolderUse::resume, .is_quiet = true, .should_stop = {}});
  }

  // Lines of metrics.jsonl behind the first, which names the program, without the times at their
  // ends; none before the first is written.
  std::vector<std::string> metrics(const std::string& run) const {
    if (!std::filesystem::exists(folder(run) + "/metrics.jsonl")) return {};
    std::istringstream text(read_text_file(folder(run) + "/metrics.jsonl"));
    std::vector<std::string> lines;
    std::string line;
    std::getline(text, line);
    REQUIRE(line.starts_with(R"({"stage":"run","command":"prune","version":")"));
    while (std::getline(text, line)) {
      lines.push_back(line.substr(0, line.find(",\"seconds\":")));
    }
    return lines;
  }

  // Runs until `batches` batches were trained, then stops; true if it came to its end before.
  bool run_until(const std::string& run, std::int64_t batches, FolderUse use) const {
    std::int64_t asked = 0;
    const auto stop = [&] { return ++asked >= batches; };
    const auto code = error_of(
        [&] { run_prune(config(run), {.use = use, .is_quiet = true, .should_stop = stop}); });
    if (code) REQUIRE(*code == ErrorCode::interrupted);
    return !code;
  }

 private:
  std::function<void(RunConfig&)> change_;
  TemporaryDirectory directory_;
};

// Of lines as Bench::metrics() gives them the first of this stage; null if there is none.
inline nlohmann::json first_of(const std::vector<std::string>& lines, const std::string& stage) {
  for (const std::string& line : lines) {
    if (line.find("\"stage\":\"" + stage + "\"") == std::string::npos) continue;
    return nlohmann::json::parse(line.back() == '}' ? line : line + "}");
  }
  return {};
}

}  // namespace winnow
