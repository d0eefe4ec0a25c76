// import: a network that another program trained in, a checkpoint out.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "import/import_refused.h"
#include "import/import_summary.h"
#include "import/onnx_import.h"
#include "import/weights_import.h"
#include "import/yaml_files.h"
#include "runtime/base/file.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/program.h"
#include "runtime/model/zero_masks.h"

namespace {

using winnow::ErrorCode;
using winnow::fail;

struct Options {
  std::string onnx;
  std::string weights;
  std::string architecture;
  std::string graph;
  std::string map;
  std::vector<std::int64_t> input_shape;
  bool is_partial = false;
  std::string masks = "none";
  std::vector<float> mean;
  std::vector<float> deviation;
  std::string resize;
  std::string crop;
  std::string interpolation = "bilinear";
  std::string classes;
  std::string out;
  std::string json;
};

void require_consistent(const Options& options) {
  if (options.onnx.empty() == options.weights.empty()) {
    fail(ErrorCode::usage, "found ",
         options.onnx.empty() ? "neither --onnx nor --weights" : "both --onnx and --weights",
         ", expected one of them");
  }
  const bool is_weights = !options.weights.empty();
  if (is_weights && options.architecture.empty() == options.graph.empty()) {
    fail(ErrorCode::usage, "--weights: found ",
         options.graph.empty() ? "neither --architecture nor --graph"
                               : "both --architecture and --graph",
         ", expected one of them");
  }
  const bool names_network = !options.architecture.empty() || !options.graph.empty();
  if (!is_weights && (names_network || !options.map.empty() || options.is_partial)) {
    fail(ErrorCode::usage,
         "--architecture, --graph, --map and --partial belong to --weights, found --onnx");
  }
  if (!options.graph.empty() && !options.input_shape.empty()) {
    fail(ErrorCode::usage, "--input-shape: the graph of --graph has its own");
  }
}

std::vector<std::string> read_classes(const std::string& file) {
  std::vector<std::string> classes;
  std::string text = winnow::read_text_file(file);
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || !winnow::is_utf8(line) || winnow::has_control_characters(line)) {
      fail(ErrorCode::bad_file, file, ": line ", classes.size() + 1, ": found ",
           winnow::in_quotes(line), ", expected the name of a class");
    }
    classes.push_back(line);
    begin = end + 1;
  }
  if (classes.empty()) {
    fail(ErrorCode::bad_file, file, ": found no names of classes, expected one a line");
  }
  return classes;
}

winnow::WeightsImport import_network(const Options& options) {
  if (!options.onnx.empty()) {
    return {winnow::import_onnx(winnow::read_onnx(options.onnx), options.onnx, options.input_shape),
            {}};
  }
  winnow::NameMap names;
  if (!options.map.empty()) names = winnow::read_names_yaml(options.map);
  winnow::Graph graph;
  if (!options.graph.empty()) graph = winnow::read_graph_yaml(options.graph);
  const winnow::SafetensorsFile weights = winnow::read_safetensors(options.weights);
  winnow::require_names(names, weights, options.map);
  if (options.graph.empty()) {
    graph = winnow::graph_for_weights(options.architecture, options.input_shape, weights, names);
  }
  return winnow::import_weights(std::move(graph), weights, names, options.is_partial,
                                options.weights);
}

winnow::Preprocessing preprocessing_of(const Options& options) {
  const winnow::PictureForm pictures = {winnow::resize_from(options.resize, "--resize"),
                                        winnow::crop_from(options.crop, "--crop"),
                                        winnow::interpolation_from(options.interpolation)};
  winnow::check_picture_form(pictures, "--crop");
  return {options.mean, options.deviation, pictures};
}

// Gives the network what the options say of it. What does not fit names the option, not the
// checkpoint that is to come.
void complete(winnow::Model& model, const Options& options,
              const winnow::Preprocessing& preprocessing, const std::string& source) {
  winnow::check_model(model, source);
  const auto require_fit = [&](const winnow::Preprocessing& part, const char* names) {
    model.preprocessing = part;
    try {
      winnow::check_model(model, names);
    } catch (const winnow::Error& error) {
      fail(ErrorCode::usage, error.what());
    }
  };
  require_fit({preprocessing.mean, {}}, "--mean");
  require_fit({preprocessing.mean, preprocessing.deviation}, "--std");
  require_fit(preprocessing, "--resize, --crop");
  if (options.classes.empty()) return;
  model.classes = read_classes(options.classes);
  winnow::check_model(model, options.classes);
}

int run(const Options& options) {
  require_consistent(options);
  const winnow::Preprocessing preprocessing = preprocessing_of(options);
  const std::string source = options.onnx.empty() ? options.weights : options.onnx;
  winnow::require_text_path(source);
  std::vector<std::string> inputs = {source};
  for (const std::string& file : {options.graph, options.map, options.classes}) {
    if (!file.empty()) inputs.push_back(file);
  }
  winnow::require_distinct_outputs(
      {.inputs = inputs, .outputs = {options.out}, .own = {}, .json = options.json});
  winnow::WeightsImport imported = import_network(options);
  winnow::Model& model = imported.model;
  complete(model, options, preprocessing, source);
  if (options.masks == "from-zeros") winnow::mask_zeros(model, 1);
  winnow::save_model(options.out, model);
  for (const std::string& line : imported.unmatched) {
    std::fprintf(stderr, "import: %s\n", line.c_str());
  }
  std::fputs(winnow::summary_table(model).c_str(), options.json == "-" ? stderr : stdout);
  winnow::write_json_output(options.json,
                            winnow::summary_json(model, imported.unmatched, source, options.out));
  return 0;
}

// All reasons but the first, which the error's own line has.
int run_listing_reasons(const Options& options) {
  try {
    return run(options);
  } catch (const winnow::ImportRefused& refused) {
    for (std::size_t i = 1; i < refused.reasons().size(); ++i) {
      std::fprintf(stderr, "import: %s\n", refused.reasons()[i].c_str());
    }
    throw;
  }
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--onnx", options.onnx, "Network and weights: an ONNX model");
  app.add_option("--weights", options.weights, "Weights: a safetensors file (a state_dict)");
  app.add_option("--architecture", options.architecture, "Network of the weights: a built-in one");
  app.add_option("--graph", options.graph, "Network of the weights: a graph in YAML");
  app.add_option("--map", options.map, "Names in the weights to names in the network, YAML");
  app.add_option("--input-shape", options.input_shape,
                 "Shape of one sample, where the network does not say it: 3,224,224")
      ->delimiter(',')
      ->check(winnow::whole_number(1, 1 << 24));
  app.add_flag("--partial", options.is_partial,
               "Take what weights and network share; missing weights are random");
  app.add_option("--masks", options.masks, "none, or from-zeros: weights that are 0 stay 0")
      ->check(CLI::IsMember({"none", "from-zeros"}))
      ->capture_default_str();
  app.add_option("--mean", options.mean, "What is subtracted of each channel (bytes / 255)")
      ->delimiter(',')
      ->check(winnow::finite_float());
  app.add_option("--std", options.deviation, "What each channel is divided by then")
      ->delimiter(',')
      ->check(winnow::finite_float());
  app.add_option("--resize", options.resize,
                 "What a picture is resized to first: 256 (the shorter side) or 224x320");
  app.add_option("--crop", options.crop, "What is cut out of its centre then: 224 or 224x320");
  app.add_option("--interpolation", options.interpolation,
                 "nearest, box, bilinear, bicubic or lanczos")
      ->capture_default_str();
  app.add_option("--classes", options.classes, "Names of the classes, one a line");
  app.add_option("-o,--out", options.out, "Checkpoint (.safetensors) to write")->required();
  app.add_option("--json", options.json, "Write a summary there ('-': stdout)");
}

}  // namespace

int main(int argc, char** argv) {
  return winnow::run_program("import", [&] {
    CLI::App app("Write a network that another program trained as a checkpoint.", "import");
    winnow::add_version_flag(app);
    Options options;
    add_options(app, options);
    app.footer("Example: import --onnx resnet50.onnx -o resnet50.safetensors");
    if (const auto status = winnow::parse_command_line(app, argc, argv)) return *status;
    return run_listing_reasons(options);
  });
}
