// Runs on folders of pictures, which are decoded once and kept beside the run.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "prune/prune_program.h"
#include "tests/config/config_text.h"
#include "tests/images/encode.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr char kPictures[] = R"(
name: pictures
device: cpu
threads: 1
data: {format: folder, size: 4, validation: 2}
model:
  graph:
    name: small
    nodes:
      - {name: image, op: input, shape: [3, 4, 4]}
      - {name: flatten, op: flatten}
      - {name: linear, op: linear, out_features: 2}
train: {epochs: 1, batch_size: 4}
prune: {start: dense, iter_nr: 2, batch_nr: 1, pool_size: 3, target_sparsity: 0.5}
)";

class Pictures {
 public:
  Pictures() {
    for (const std::string place : {"train/a", "train/b", "test/a", "test/b"}) {
      for (std::uint8_t i = 0; i < 4; ++i) {
        const auto value = static_cast<std::uint8_t>(place.back() == 'a' ? 10 + i : 200 + i);
        write_bytes(path("data/" + place + "/" + std::to_string(i) + ".png"),
                    png_bytes({4, 4, 1, Bytes(16, value)}));
      }
    }
  }

  std::string path(const std::string& name) const { return directory_ / name; }
  bool has(const std::string& name) const { return fs::exists(path(name)); }
  RunConfig config(const std::string& output) const {
    RunConfig config = parse_config(kPictures);
    config.data.path = path("data");
    config.output = output;
    return config;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("decoded pictures are kept beside the run folder, however that is spelled") {
  for (const char* output : {"runs/x", "runs/x/", "runs/x/.", "runs/y/../x//"}) {
    CAPTURE(std::string(output));
    const Pictures pictures;
    CHECK_NOTHROW(run_prune(pictures.config(pictures.path(output)), {.is_quiet = true}));
    CHECK(pictures.has("runs/.image-cache"));
    CHECK(pictures.has("runs/x/prune.json"));
    CHECK_FALSE(pictures.has("runs/x/.image-cache"));
  }
}

TEST_CASE("the folder that one is in can be the run folder") {
  const Pictures pictures;
  const fs::path before = fs::current_path();
  fs::create_directories(pictures.path("here"));
  fs::current_path(pictures.path("here"));
  const auto run = [&] { run_prune(pictures.config("."), {.is_quiet = true}); };
  const std::string message = message_of(run);
  fs::current_path(before);
  CHECK(message.empty());
  CHECK(pictures.has("here/prune.json"));
  CHECK(pictures.has(".image-cache"));
}

TEST_CASE("a run that is refused, and a dry run, leave no folder and no decoded pictures") {
  const Pictures pictures;
  RunConfig config = pictures.config(pictures.path("new/run"));
  CHECK_NOTHROW(describe_run(config, {.is_quiet = true}));
  config.evolution.exclude = {"nope"};
  CHECK(message_of([&] {
          run_prune(config, {.is_quiet = true});
        }).find("prune.exclude: no prunable layer 'nope'") != std::string::npos);
  CHECK_FALSE(pictures.has("new"));
}

}  // namespace
}  // namespace winnow
