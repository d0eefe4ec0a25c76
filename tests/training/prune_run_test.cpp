// Whole runs of the program on small IDX files.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "prune/prune_program.h"
#include "runtime/base/file.h"
#include "runtime/model/safetensors.h"
#include "tests/config/config_text.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"
#include "tests/training/images.h"

namespace winnow {
namespace {

void write_big_endian(std::ofstream& file, std::int64_t value) {
  for (const int shift : {24, 16, 8, 0}) file.put(static_cast<char>(value >> shift & 0xff));
}

void write_idx(const std::string& folder, const std::string& split, const ImageSet& images) {
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

constexpr char kConfig[] = R"(
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

// A folder with data and runs in it.
class Bench {
 public:
  Bench() {
    write_idx(directory_.path(), "train", striped_images(320, 1));
    write_idx(directory_.path(), "t10k", striped_images(64, 2));
  }

  RunConfig config(const std::string& run) const {
    RunConfig result = parse_config(kConfig);
    result.data.path = directory_.path();
    result.output = folder(run);
    return result;
  }
  std::string folder(const std::string& run) const { return directory_ / run; }
  Model pruned(const std::string& run) const {
    return load_model(folder(run) + "/pruned.safetensors");
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
  TemporaryDirectory directory_;
};

std::int64_t lines_of(const std::string& path) {
  const std::string text = read_text_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

TEST_CASE("a run writes its folder and reaches the sparsity") {
  const Bench bench;
  const PruneSummary summary =
      run_prune(bench.config("run"), {.use = FolderUse::fresh, .is_quiet = true});
  CHECK(summary.target_met);
  CHECK(summary.sparsity >= 0.59);
  CHECK(summary.dense_accuracy > 0.8);
  for (const char* file : {"config.yaml", "dense.safetensors", "pruned.safetensors",
                           "metrics.jsonl", "prune.json", "report.html"}) {
    CHECK(std::filesystem::exists(bench.folder("run") + "/" + file));
  }
  CHECK_FALSE(std::filesystem::exists(bench.folder("run") + "/checkpoint.safetensors"));
  CHECK(lines_of(bench.folder("run") + "/metrics.jsonl") == 2 + 8);
  const Model model = bench.pruned("run");
  CHECK(model.classes.size() == 4);
  CHECK(sparsity(model) == doctest::Approx(summary.sparsity));

  SUBCASE("which a second run does not overwrite silently") {
    CHECK(error_of([&] { run_prune(bench.config("run"), {.is_quiet = true}); }) ==
          ErrorCode::usage);
  }
  SUBCASE("and equal configurations give equal models") {
    run_prune(bench.config("again"), {.is_quiet = true});
    CHECK((bench.pruned("again").tensors == model.tensors));
  }
}

TEST_CASE("a run that is interrupted again and again ends with the same bits") {
  const Bench bench;
  run_prune(bench.config("whole"), {.is_quiet = true});
  // 16 batches of the baseline, 40 of the evolution: stops in both, amid epochs and iterations.
  bool is_done = bench.run_until("parts", 5, FolderUse::fresh);
  int parts = 1;
  for (; !is_done && parts < 20; ++parts) is_done = bench.run_until("parts", 9, FolderUse::resume);
  CHECK(is_done);
  CHECK(parts >= 5);
  CHECK((bench.pruned("parts").tensors == bench.pruned("whole").tensors));
  CHECK((bench.pruned("parts").mask_vector == bench.pruned("whole").mask_vector));
  CHECK(lines_of(bench.folder("parts") + "/metrics.jsonl") == 2 + 8);
}

TEST_CASE("resuming refuses what would not continue the run") {
  const Bench bench;
  CHECK(error_of([&] { run_prune(bench.config("none"), {.use = FolderUse::resume}); }) ==
        ErrorCode::usage);
  bench.run_until("run", 20, FolderUse::fresh);
  RunConfig other = bench.config("run");
  other.train.epochs = 3;
  const auto resume = [&] {
    run_prune(other, {.use = FolderUse::resume, .is_quiet = true, .should_stop = {}});
  };
  CHECK(message_of(resume).find("epochs: 2") != std::string::npos);

  std::filesystem::resize_file(bench.folder("run") + "/checkpoint.safetensors", 1000);
  other = bench.config("run");
  CHECK(error_of(resume) == ErrorCode::bad_file);
}

TEST_CASE("a folder with other people's files is left alone") {
  const Bench bench;
  std::filesystem::create_directories(bench.folder("run"));
  std::ofstream(bench.folder("run") + "/thesis.txt") << "important";
  for (const FolderUse use : {FolderUse::fresh, FolderUse::resume, FolderUse::overwrite}) {
    CHECK(error_of([&] { run_prune(bench.config("run"), {.use = use, .is_quiet = true}); }) ==
          ErrorCode::usage);
  }
  CHECK(read_text_file(bench.folder("run") + "/thesis.txt") == "important");
}

TEST_CASE("a run that cannot begin leaves no trace and no damage") {
  const Bench bench;
  RunConfig config = bench.config("run");
  config.device = "gpu";
  CHECK(error_of([&] { run_prune(config, {.is_quiet = true}); }) == ErrorCode::usage);
  CHECK_FALSE(std::filesystem::exists(bench.folder("run")));
  run_prune(bench.config("run"), {.is_quiet = true});
  const auto overwrite = [&] {
    run_prune(config, {.use = FolderUse::overwrite, .is_quiet = true});
  };
  CHECK(error_of(overwrite) == ErrorCode::usage);
  CHECK(bench.pruned("run").classes.size() == 4);
}

TEST_CASE("a dry run describes network and data") {
  const Bench bench;
  const std::string text = describe_run(bench.config("run"));
  CHECK(text.find("256 training, 64 validation, 64 test") != std::string::npos);
  CHECK(text.find("linear: linear -> [1, 4]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(bench.folder("run")));
}

}  // namespace
}  // namespace winnow
