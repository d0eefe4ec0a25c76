// export as a user calls it: which files it writes, and which calls it refuses.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "import/onnx_file.h"
#include "runtime/base/file.h"
#include "runtime/model/model_file.h"
#include "runtime/model/safetensors.h"
#include "tests/model/graphs.h"
#include "tests/pipeline/shell.h"
#include "tests/quantize/random_networks.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() { save_model(file("c.safetensors"), random_network(joined_graph(), 3)); }

  std::string file(const std::string& name) const { return directory_ / name; }
  bool has(const std::string& name) const { return fs::exists(file(name)); }

  // `options` with $ in place of the folder.
  Outcome run(std::string options) const {
    for (std::size_t at = 0; (at = options.find('$')) != std::string::npos;) {
      options.replace(at, 1, directory_.path());
    }
    return shell(program("export") + " --in " + file("c.safetensors") + " " + options);
  }

  void check_refused(const std::string& options, const std::string& text) const {
    const Outcome outcome = run(options);
    CAPTURE(options);
    CAPTURE(outcome.output);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.find(text) != std::string::npos);
    CHECK(!has("m.wnw"));
    CHECK(!has("m.onnx"));
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("a model file, an ONNX model and weights are written by one call") {
  const Folder folder;
  write_file_atomically(folder.file("m.onnx"), std::string_view("old"));
  const Outcome outcome =
      folder.run("-o $/m.wnw --onnx $/m.onnx --safetensors $/t.safetensors --json $/s.json");
  CAPTURE(outcome.output);
  REQUIRE(outcome.status == 0);
  CHECK(read_model_file(folder.file("m.wnw")).graph == joined_graph());
  CHECK(read_onnx(folder.file("m.onnx")).nodes.back().name == "out");
  CHECK(read_safetensors(folder.file("t.safetensors")).tensors.size() == 6);
  for (const std::string name : {"m.wnw", "m.onnx", "t.safetensors"}) {
    const std::string size = std::to_string(fs::file_size(folder.file(name)));
    CHECK(outcome.output.find(name + ": " + size + " bytes") != std::string::npos);
  }
  const auto json = nlohmann::json::parse(read_text_file(folder.file("export.json")));
  CHECK(json == nlohmann::json::parse(read_text_file(folder.file("s.json"))));
  CHECK(json["file"] == folder.file("m.wnw"));
  CHECK(json["bytes"] == fs::file_size(folder.file("m.wnw")));
  CHECK(json["onnx"]["file"] == folder.file("m.onnx"));
  CHECK(json["onnx"]["bytes"] == fs::file_size(folder.file("m.onnx")));
  CHECK(json["safetensors"]["bytes"] == fs::file_size(folder.file("t.safetensors")));
}

TEST_CASE("without a model file export.json stays as it is") {
  const Folder folder;
  const Outcome outcome = folder.run("--onnx $/m.onnx --json $/s.json");
  CAPTURE(outcome.output);
  REQUIRE(outcome.status == 0);
  CHECK(folder.has("m.onnx"));
  CHECK(!folder.has("export.json"));
  const auto json = nlohmann::json::parse(read_text_file(folder.file("s.json")));
  CHECK(!json.contains("file"));
  CHECK(!json.contains("bytes"));
  CHECK(!json.contains("safetensors"));
  CHECK(json["layers"].size() == 3);
}

TEST_CASE("no result, one path twice and places that cannot be written are wrong usage") {
  const Folder folder;
  folder.check_refused("", "found none of --out, --onnx and --safetensors, expected at least one");
  folder.check_refused("-o $/m.wnw --onnx $/m.wnw", "m.wnw");
  folder.check_refused("--onnx $/c.safetensors", "c.safetensors");
  folder.check_refused("-o $/m.wnw --safetensors $/none/t", "none");
  folder.check_refused("-o $/m.wnw --onnx $/export.json", "export.json");
}

}  // namespace winnow
