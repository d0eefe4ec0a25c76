// The program as a user calls it: what it writes, exit status and text of refusals.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/model/architectures.h"
#include "runtime/model/safetensors.h"
#include "tests/import/onnx_writer.h"
#include "tests/pipeline/shell.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

using namespace onnx_writer;

// A folder with a network of one linear layer, which has a zero.
class Folder {
 public:
  Folder() {
    write_file_atomically(file("m.onnx"), model(network()));
    write_file_atomically(file("classes.txt"), std::string_view("cat\ndog\n"));
  }

  static Network network() {
    return {{2, 1, 1},
            {node("Flatten", {"x"}, "f"), node("MatMul", {"f", "fc.weight"}, "y")},
            {floats("fc.weight", {2, 2}, {1, 0, 3, 4})}};
  }

  std::string file(const std::string& name) const { return directory_ / name; }

  Outcome import(const std::string& options) const {
    return shell(std::string(WINNOW_BIN_DIR) + "/import -o " + file("m.safetensors") + " " +
                 options);
  }

  bool is_written() const { return std::filesystem::exists(file("m.safetensors")); }

 private:
  TemporaryDirectory directory_;
};

void check_refused(const Folder& folder, const std::string& options, int status,
                   const std::string& part) {
  const Outcome outcome = folder.import(options);
  CAPTURE(outcome.output);
  CHECK(outcome.status == status);
  CHECK(outcome.output.find(part) != std::string::npos);
  CHECK(!folder.is_written());
}

}  // namespace

TEST_CASE("import writes a checkpoint with masks, preprocessing and classes") {
  const Folder folder;
  const Outcome outcome =
      folder.import("--onnx " + folder.file("m.onnx") +
                    " --masks from-zeros --mean 0.5,0.25 --std 1,2 --resize 3 --crop 1 "
                    "--interpolation bicubic --classes " +
                    folder.file("classes.txt") + " --json " + folder.file("m.json"));
  CAPTURE(outcome.output);
  REQUIRE(outcome.status == 0);
  const Model model = load_model(folder.file("m.safetensors"));
  CHECK(model.graph.nodes.back().name == "fc");
  CHECK(model.classes == std::vector<std::string>{"cat", "dog"});
  CHECK(model.preprocessing.mean == std::vector<float>{0.5F, 0.25F});
  CHECK(model.preprocessing.deviation == std::vector<float>{1, 2});
  CHECK(model.preprocessing.pictures == PictureForm{{3, 0}, {1, 1}, Interpolation::bicubic});
  CHECK(sparsity(model) == 0.25);
  const auto json = nlohmann::json::parse(read_text_file(folder.file("m.json")));
  CHECK(json["command"] == "import");
  CHECK(json["layers"][0]["zeros"] == 1);
  CHECK(json["layers"][0]["masked"] == true);
}

TEST_CASE("wrong usage is status 2 and damaged files are status 3, and nothing is written") {
  const Folder folder;
  const std::string onnx = "--onnx " + folder.file("m.onnx");
  check_refused(folder, "", 2, "found neither --onnx nor --weights, expected one of them");
  check_refused(folder, onnx + " --weights w", 2, "found both --onnx and --weights");
  check_refused(folder, "--weights w", 2, "found neither --architecture nor --graph");
  check_refused(folder, onnx + " --partial", 2, "belong to --weights, found --onnx");
  check_refused(folder, onnx + " --masks all", 2, "--masks");
  check_refused(folder, onnx + " --mean nan", 2, "--mean");
  check_refused(folder, onnx + " --crop 4x", 2,
                "--crop: found '4x', expected the side of a square");
  check_refused(folder, onnx + " --resize 2 --crop 3", 2, "--crop: a crop of 3 x 3 does not fit");
  check_refused(folder, onnx + " --interpolation cubic", 2, "interpolation 'cubic' is not known");
  check_refused(folder, onnx + " --crop 2", 2,
                "import: --resize, --crop: pictures are brought to 2x2");
  check_refused(folder, onnx + " --mean 1,2,3", 2,
                "import: --mean: mean of 3 channels, the input has 2");
  check_refused(folder, onnx + " --std 1,0", 2, "import: --std: deviation is not positive");
  write_file_atomically(folder.file("none.txt"), std::string_view(""));
  check_refused(folder, onnx + " --classes " + folder.file("none.txt"), 3,
                "none.txt: found no names of classes, expected one a line");
  write_file_atomically(folder.file("one.txt"), std::string_view("cat\n"));
  check_refused(folder, onnx + " --classes " + folder.file("one.txt"), 3,
                "one.txt: 1 class names, the network has 2 outputs");
  check_refused(folder, "--weights " + folder.file("m.onnx") + " --architecture resnet51", 3,
                "no safetensors file, but an ONNX model");
  check_refused(folder, "--onnx " + folder.file("missing.onnx"), 3, "missing.onnx");
  check_refused(folder, "--onnx " + folder.file("classes.txt"), 3, "no ONNX file, but a text file");
  check_refused(folder, onnx + " --classes " + folder.file("m.onnx"), 3, "m.onnx: line 1");
}

TEST_CASE("weights that are no numbers are refused by the name of their file") {
  const Folder folder;
  Network network = Folder::network();
  network.initializers = {
      floats("fc.weight", {2, 2}, {1, std::nanf(""), 3, 4})};  // by inputs; ours is by outputs
  write_file_atomically(folder.file("m.onnx"), model(network));
  check_refused(folder, "--onnx " + folder.file("m.onnx"), 3,
                "m.onnx: tensor 'fc.weight': element 2 is nan, expected a finite number");
}

TEST_CASE("every reason stands on a line of its own") {
  const Folder folder;
  Network network = Folder::network();
  network.nodes = {node("LSTM", {"x"}, "f"), node("Erf", {"f"}, "y")};
  write_file_atomically(folder.file("m.onnx"), model(network));
  const std::string path = folder.file("m.onnx");
  check_refused(folder, "--onnx " + path, 3,
                "import: node 'the_y' (Erf): the operator is not supported\nimport: " + path +
                    ": cannot be imported: 2 reasons, the first: node 'the_f' (LSTM): ");
}

#ifdef WINNOW_HAS_YAML
TEST_CASE("a graph and names in YAML take weights of other names") {
  const Folder folder;
  SafetensorsFile weights;
  weights.tensors.emplace("head.weight", Tensor(DataType::f16, {2, 3}));
  weights.tensors.emplace("head.bias", Tensor(DataType::f32, {2}));
  write_safetensors(folder.file("w.safetensors"), weights);
  write_file_atomically(
      folder.file("g.yaml"),
      std::string_view("name: small\nnodes:\n  - {name: in, op: input, shape: [3]}\n"
                       "  - {name: fc, op: linear, out_features: 2}\n"));
  write_file_atomically(folder.file("names.yaml"), std::string_view("head: fc\n"));
  const std::string options =
      "--weights " + folder.file("w.safetensors") + " --graph " + folder.file("g.yaml");
  check_refused(folder, options, 3, "tensor 'head.weight': no parameter takes it");
  write_file_atomically(folder.file("bad.yaml"), std::string_view("head: [fc]\n"));
  check_refused(folder, options + " --map " + folder.file("bad.yaml"), 2, "bad.yaml:1:7");
  write_file_atomically(folder.file("typo.yaml"), std::string_view("haed: fc\n"));
  check_refused(folder, options + " --map " + folder.file("typo.yaml"), 2,
                "typo.yaml: 'haed' is no tensor or layer of the weights; did you mean 'head'?");
  const Outcome outcome = folder.import(options + " --map " + folder.file("names.yaml"));
  CAPTURE(outcome.output);
  REQUIRE(outcome.status == 0);
  CHECK(load_model(folder.file("m.safetensors")).tensors.contains("fc.weight"));
}
#endif

TEST_CASE("a whole resnet18 with random weights under torchvision's names is imported") {
  const Folder folder;
  SafetensorsFile weights;
  for (const Node& node : build_architecture("resnet18", {{3, 224, 224}, 5}).nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      weights.tensors.emplace(parameter.name, Tensor(DataType::f32, parameter.shape));
    }
  }
  write_safetensors(folder.file("w.safetensors"), weights);
  const Outcome outcome =
      folder.import("--architecture resnet18 --weights " + folder.file("w.safetensors"));
  CAPTURE(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(infer_shapes(load_model(folder.file("m.safetensors")).graph, 1).back() == Shape{1, 5});
}

}  // namespace winnow
