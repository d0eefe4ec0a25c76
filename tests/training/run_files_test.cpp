#include "prune/run/run_files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "prune/config/run_config.h"
#include "runtime/base/file.h"
#include "runtime/model/model_file_layout.h"
#include "runtime/model/safetensors.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

std::vector<std::string> names_in(const TemporaryDirectory& folder) {
  std::vector<std::string> names;
  for (const auto& path : files_of_run(folder.path())) names.push_back(path.filename().string());
  return names;
}

void put(const TemporaryDirectory& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name, std::ios::binary) << text;
}

void put_safetensors(const TemporaryDirectory& folder, const std::string& name,
                     const std::string& key) {
  SafetensorsFile file;
  file.tensors["x"] = Tensor::from<float>({1}, std::vector<float>{1});
  file.metadata.emplace(key, std::string(1, '1'));
  write_safetensors(folder / name, file);
}

TEST_CASE("a run's files are known by name or content, and removed from the end of the pipeline") {
  const TemporaryDirectory folder;
  for (const char* name : {"config.yaml", "metrics.jsonl", "prune.json", "quantize.json",
                           "export.json", "run.json", "bench.json", "report.html"}) {
    put(folder, name, "x");
  }
  std::ofstream model(folder / "any name.wnw", std::ios::binary);
  for (const std::uint8_t byte : kModelFileMagic) model.put(static_cast<char>(byte));
  model.close();
  put_safetensors(folder, "quantized-8b.safetensors", "winnow.format");
  put_safetensors(folder, "checkpoint.safetensors", "winnow.checkpoint");
  put(folder, "pruned.safetensors.tmp-12-0", "half");
  put(folder, "bench.json.tmp-9-31", "half");
  put(folder, "dense.safetensors", "damaged");
  put(folder, "quantized.safetensors", "damaged");
  put(folder, "verify.json", "x");
  put(folder, "bench-b1.json", R"([{"command": "bench", "version": "0.1.0"}])");
  put(folder, "old.json", R"({"program": "winnow", "command": "run", "version": "0.1.0"})");
  put(folder, "older.JSON", R"({"program": "quantize", "version": "0.1.0"})");
  put(folder, "empty.WNW", "");
  std::filesystem::copy(folder / "any name.wnw", folder / "M.WNW");
  CHECK(names_in(folder).size() == 13 + 8);
  const std::vector<std::string> names = names_in(folder);
  CHECK(names.back() == "config.yaml");
  const auto place = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  CHECK(place("bench.json") < place("any name.wnw"));
  CHECK(place("any name.wnw") < place("prune.json"));
  CHECK(place("prune.json") < place("checkpoint.safetensors"));
}

TEST_CASE("what others put into the folder is not the run's") {
  const TemporaryDirectory folder;
  put(folder, "thesis.txt", "important");
  put(folder, "config.yml", "x");
  put(folder, "mine.wnw", "not a model file");
  put(folder, "short.safetensors", "x");
  put(folder, "notes.txt.tmp-1-2", "x");
  put(folder, "bench.json.tmp-x", "x");
  put(folder, "package.json", R"({"version": "1.0", "command": "npm run"})");
  put(folder, "broken.json", "{");
  put(folder, "list.json", "[]");
  put(folder, "number.json", "3");
  put_safetensors(folder, "bert.safetensors", "format");
  std::filesystem::create_directories(folder / "prune.json.d/run.json");
  CHECK(names_in(folder).empty());
}

// A pipe that nobody writes would be waited for.
TEST_CASE("a pipe behind a link is not opened and not ours") {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "in");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const char* name : {"x.wnw", "x.safetensors", "x.json"}) {
    std::filesystem::create_symlink(folder / "pipe", folder / (std::string("in/") + name));
  }
  CHECK(files_of_run(folder / "in").empty());
}

TEST_CASE("a run is what prune wrote, not a configuration that lies there") {
  const TemporaryDirectory folder;
  CHECK_FALSE(holds_run(folder.path()));
  put(folder, "config.yaml", "data: {format: idx}\nmodel: {architecture: lenet5}\n");
  CHECK_FALSE(holds_run(folder.path()));
  put(folder, "metrics.jsonl", "");
  CHECK(holds_run(folder.path()));
  std::filesystem::remove(folder / "metrics.jsonl");
  const RunConfig config = read_run_config(folder / "config.yaml");
  put(folder, "config.yaml", write_run_config(config));
  CHECK(holds_run(folder.path()));
}

TEST_CASE("what a killed program leaves is known by its name") {
  CHECK(is_leftover("run.lock"));
  CHECK(is_leftover("config.yaml.tmp-1-0"));
  CHECK(is_leftover("a.wnw.tmp-12-3"));
  for (const char* name : {"config.yaml", "thesis.txt.tmp-1-0", "a.wnw"}) {
    CAPTURE(std::string(name));
    CHECK_FALSE(is_leftover(name));
  }
}

}  // namespace
}  // namespace winnow
