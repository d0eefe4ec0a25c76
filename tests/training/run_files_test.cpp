#include "prune/run_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

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
  const std::vector<std::string> names = names_in(folder);
  CHECK(names.size() == 13);
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
  put_safetensors(folder, "bert.safetensors", "format");
  std::filesystem::create_directories(folder / "prune.json.d/run.json");
  CHECK(names_in(folder).empty());
}

}  // namespace
}  // namespace winnow
