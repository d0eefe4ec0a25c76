#include "quantize/quantize_program.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "quantize/data_source.h"
#include "quantize/measured_network.h"
#include "runtime/base/file.h"
#include "runtime/base/folder_lock.h"
#include "runtime/model/safetensors.h"
#include "tests/model/graphs.h"
#include "tests/pipeline/synthetic_idx.h"
#include "tests/quantize/random_networks.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr int kTrainImages = 96;
constexpr int kTestImages = 50;

// A folder with images and a checkpoint that names them.
class Workshop {
 public:
  Workshop() {
    write_synthetic_idx(directory_.path(), "train", kTrainImages, 1);
    write_synthetic_idx(directory_.path(), "t10k", kTestImages, 2);
    model_ =
        random_network(graph_of({1, 28, 28}, {{"conv", conv(1, 6, 5), {}},
                                              {"bn", BatchNorm{6}, {}},
                                              {"relu", Relu{}, {}},
                                              {"pool", Pool{PoolKind::max, 2, {4, 4}, {4, 4}}, {}},
                                              {"flat", Flatten{}, {}},
                                              {"fc", Linear{216, 4, true}, {}}}),
                       1);
    prune_node(model_, "fc", 1, 0.3, 2);
    model_.metadata[kDataFormatKey] = "idx";
    model_.metadata[kDataPathKey] = directory_.path();
    save_model(path("pruned.safetensors"), model_);
  }

  const Model& model() const { return model_; }
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string folder() const { return directory_.path(); }
  bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }

  QuantizeOptions options(const char* scheme) const {
    QuantizeOptions options;
    options.in = path("pruned.safetensors");
    options.scheme = scheme_from(scheme);
    options.device = "cpu";
    options.calibration = 32;
    options.is_quiet = true;
    return options;
  }

 private:
  TemporaryDirectory directory_;
  Model model_;
};

TEST_CASE("a checkpoint is quantized, measured and written with its summary") {
  const Workshop shop;
  const QuantizationReport report = run_quantize(shop.options("16b/16b"));
  REQUIRE(report.accuracy.has_value());
  CHECK(report.accuracy->samples == kTestImages);
  CHECK(std::abs(report.accuracy->drop_points()) <= 4);  // two images
  CHECK(report.calibration == 32);
  CHECK(report.device.starts_with("cpu ("));

  const Model quantized = load_model(shop.path("quantized.safetensors"));
  CHECK(quantized.activation_bits == 16);
  CHECK(quantized.activation_frac.count("input") == 1);
  CHECK(quantized.tensors.count("conv.weight.codes") == 1);
  CHECK(quantized.metadata.at("scheme") == "16b/16b");

  const auto json = nlohmann::json::parse(read_text_file(shop.path("quantize.json")));
  CHECK(json["scheme"] == "16b/16b");
  CHECK(json["samples"] == kTestImages);
  CHECK(json["accuracy_after"] == doctest::Approx(100 * report.accuracy->after));
  CHECK(json["layers"].size() == 2);
  CHECK(json["layers"][1]["name"] == "fc");
}

TEST_CASE("the accuracy shown is that of the file written") {
  const Workshop shop;
  const QuantizationReport report = run_quantize(shop.options("4b/8b"));
  const Model quantized = load_model(shop.path("quantized.safetensors"));
  CHECK(quantized.activation_bits == 8);
  const DataSource source = find_data("", shop.path("quantized.safetensors"), quantized);
  const DataSet data = load_data_set(source.data, source.seed);
  CHECK(MeasuredNetwork(quantized, device_from("cpu")).accuracy(data.test) ==
        report.accuracy->after);
}

TEST_CASE("biases are corrected unless the caller does not want it, and the summary says so") {
  const Workshop shop;
  const auto biases = [&](const QuantizeOptions& options) {
    const QuantizationReport report = run_quantize(options);
    const auto json = nlohmann::json::parse(read_text_file(shop.path("quantize.json")));
    CHECK(json["bias_correction"] == report.has_corrected_biases);
    const bool is_told = report_table(report).find(
                             "biases: corrected for the mean inputs of 32 "
                             "training images") != std::string::npos;
    CHECK(is_told == report.has_corrected_biases);
    CHECK(json.contains("calibration") == report.has_corrected_biases);
    const Model model = load_model(shop.path("quantized.safetensors"));
    std::vector<float> found = to_floats(model.tensors.at("conv.bias"));
    for (const float x : to_floats(model.tensors.at("fc.bias"))) found.push_back(x);
    return found;
  };
  QuantizeOptions options = shop.options("4b/32b");
  const std::vector<float> corrected = biases(options);
  options.corrects_biases = false;
  const std::vector<float> kept = biases(options);
  CHECK(corrected != kept);
  options.scheme = scheme_from("32b/32b");
  options.corrects_biases = true;  // no weight changes, so nothing is to be taken back
  CHECK(biases(options) == kept);
  options.scheme = scheme_from("4b/32b");
  options.measures_accuracy = false;
  CHECK(biases(options) == kept);
}

TEST_CASE("without images weights are quantized and activations are left, and both are said") {
  const Workshop shop;
  std::filesystem::remove(shop.path("t10k-images-idx3-ubyte"));
  QuantizeOptions options = shop.options("4b/16b");
  options.measures_accuracy = false;
  const QuantizationReport report = run_quantize(options);
  CHECK(!report.accuracy.has_value());
  CHECK(to_string(report.done) == "4b/32b");
  CHECK(load_model(shop.path("quantized.safetensors")).activation_bits == 0);
  const std::string table = report_table(report);
  CHECK(table.find("accuracy: not measured") != std::string::npos);
  CHECK(table.find("activations: not quantized") != std::string::npos);
}

TEST_CASE("nothing is written if something is wrong") {
  const Workshop shop;
  QuantizeOptions options = shop.options("4b/16b");
  ErrorCode expected = ErrorCode::usage;
  SUBCASE("the output is the input") {
    options.out = options.in;
  }
  SUBCASE("the summary is the input, the result, or another file of the run") {
    for (const char* name : {"pruned.safetensors", "quantized.safetensors", "quantize.json"}) {
      options.json = shop.path(name);
      CAPTURE(std::string(name));
      CHECK(error_of([&] { run_quantize(options); }) == ErrorCode::usage);
    }
    options.json.clear();
    std::ofstream(shop.path("config.yaml")) << "data: {format: idx}\n";
    options.out = shop.path("metrics.jsonl");
  }
  SUBCASE("a name that leaves no room for the temporary file's") {
    options.out = shop.path(std::string(240, 'x'));
  }
  SUBCASE("a place for the summary that is not there") {
    options.json = shop.path("none/q.json");
  }
  SUBCASE("no such images") {
    options.data = "idx:" + shop.path("nowhere");
  }
  SUBCASE("no format") {
    options.data = shop.folder();
  }
  SUBCASE("no such checkpoint") {
    options.in = shop.path("missing.safetensors");
    expected = ErrorCode::bad_file;
  }
  SUBCASE("quantized already") {
    Model model = quantize_weights(shop.model()).model;
    model.metadata = shop.model().metadata;
    save_model(shop.path("pruned.safetensors"), model);
    options.data = "idx:" + shop.path("nowhere");  // which is not looked at
    CHECK(message_of([&] { run_quantize(options); }) ==
          options.in + ": node 'conv' is quantized already");
  }
  SUBCASE("an output that cannot be written") {
    options.out = shop.path("none/quantized.safetensors");
  }
  SUBCASE("a run folder that another program holds") {
    std::ofstream(shop.path("config.yaml")) << "data: {format: idx}\n";
    const FolderLock lock(shop.folder(), "prune");
    CHECK(message_of([&] { run_quantize(options); }).find(": in use by prune, process ") !=
          std::string::npos);
  }
  CHECK(error_of([&] { run_quantize(options); }) == expected);
  CHECK(!shop.has("quantized.safetensors"));
  CHECK(!shop.has("quantize.json"));
}

TEST_CASE("accuracy that does not change is no negative zero") {
  const Workshop shop;
  const QuantizationReport report = run_quantize(shop.options("32b/32b"));
  REQUIRE(report.accuracy->drop_points() == 0);
  CHECK(report_table(report).find("(32b/32b, +0.00 points)") != std::string::npos);
}

// Replaces one weight in the file, which save_model might refuse to write.
void put_weight(const std::string& path, const std::string& name, float value) {
  SafetensorsFile file = read_safetensors(path);
  file.tensors.at(name).values<float>()[7] = value;
  write_safetensors(path, file);
}

TEST_CASE("weights that are no numbers are refused by file and tensor, whatever the scheme") {
  for (const char* scheme : {"4b/16b", "8b-codebook/16b", "16b/16b", "8b/8b", "32b/32b"}) {
    for (const float value : {NAN, INFINITY}) {
      const Workshop shop;
      put_weight(shop.path("pruned.safetensors"), "conv.weight", value);
      const auto quantize = [&] { run_quantize(shop.options(scheme)); };
      CAPTURE(scheme);
      CHECK(error_of(quantize) == ErrorCode::bad_file);
      CHECK(message_of(quantize).find(shop.path("pruned.safetensors") +
                                      ": tensor 'conv.weight': element 7 is ") == 0);
    }
  }
}

TEST_CASE("weights beyond fp16 are refused where they are stored as fp16, and only there") {
  const Workshop shop;
  put_weight(shop.path("pruned.safetensors"), "conv.weight", 1e6f);
  QuantizeOptions options = shop.options("4b/16b");
  options.first_layer = WeightForm::codebook4;
  const auto quantize = [&] { run_quantize(options); };
  CHECK(error_of(quantize) == ErrorCode::bad_file);
  CHECK(message_of(quantize).find(shop.path("pruned.safetensors") +
                                  ": tensor 'conv.weight': element 7 is ") == 0);
  CHECK(message_of(quantize).find("65504") != std::string::npos);
  CHECK(!shop.has("quantized.safetensors"));
  run_quantize(shop.options("16b/16b"));
  CHECK(shop.has("quantized.safetensors"));
}

TEST_CASE("images are found by option, by the run's configuration, by the checkpoint") {
  const Workshop shop;
  const std::string checkpoint = shop.path("pruned.safetensors");
  const DataSource by_option = find_data("cifar10:/some/where", checkpoint, shop.model());
  CHECK(by_option.data.format == "cifar10");
  CHECK(by_option.data.path == "/some/where");

  const DataSource by_checkpoint = find_data("", checkpoint, shop.model());
  CHECK(by_checkpoint.data.format == "idx");
  CHECK(by_checkpoint.data.path == shop.folder());

  std::ofstream(shop.path("config.yaml"))
      << "name: a\nseed: 7\ndata: {format: idx, path: gone/since, limit: 40, validation: 6}\n"
      << "model: {architecture: lenet5}\n";
  const DataSource by_config = find_data("", checkpoint, shop.model());
  CHECK(by_config.seed == 7);
  CHECK(by_config.data.limit == 40);
  CHECK(by_config.data.path == shop.folder());  // where prune found it

  Model silent = shop.model();
  silent.metadata = {{"data", "cifar100 in /a in b"}};
  std::filesystem::remove(shop.path("config.yaml"));
  const DataSource by_old_checkpoint = find_data("", checkpoint, silent);
  CHECK(by_old_checkpoint.data.format == "cifar100");
  CHECK(by_old_checkpoint.data.path == "/a in b");
  silent.metadata.clear();
  CHECK(error_of([&] { find_data("", checkpoint, silent); }) == ErrorCode::usage);
}

TEST_CASE("labels that are not those of the network's outputs are refused") {
  const Workshop shop;
  Model model = shop.model();
  model.classes = {"1", "0", "2", "3"};
  save_model(shop.path("pruned.safetensors"), model);
  const auto quantize = [&] { run_quantize(shop.options("4b/16b")); };
  CHECK(error_of(quantize) == ErrorCode::usage);
  CHECK(message_of(quantize).find("the checkpoint: class '1' has number 0 in '") !=
        std::string::npos);
  CHECK_FALSE(shop.has("quantized.safetensors"));
}

TEST_CASE("pictures take the form that the model says, wherever their folder is named") {
  const Workshop shop;
  Model model = shop.model();
  const std::string checkpoint = shop.path("pruned.safetensors");
  const auto check_form = [&](const std::string& text, const char* resize, const char* crop,
                              std::int64_t size) {
    const DataConfig data = find_data(text, checkpoint, model).data;
    CHECK(data.format == "folder");
    CHECK(data.resize == resize);
    CHECK(data.crop == crop);
    CHECK(data.size == size);
  };
  check_form("folder:pictures", "", "", 28);
  model.preprocessing.pictures = {{32, 0}, {28, 28}, Interpolation::bicubic};
  check_form("folder:pictures", "32", "28x28", 0);
  // As prune writes it for weights that say the form (model.weights).
  std::ofstream(shop.path("config.yaml"))
      << "name: a\ndata: {format: folder, path: pictures}\nmodel: {architecture: lenet5}\n";
  check_form("", "32", "28x28", 0);
  CHECK(find_data("", checkpoint, model).data.interpolation == "bicubic");
}

}  // namespace
}  // namespace winnow
