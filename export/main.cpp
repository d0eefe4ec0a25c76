// export: a pruned or quantized checkpoint in; a deployed model file, an ONNX model, weights for
// PyTorch out.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "export/export_report.h"
#include "export/onnx_model.h"
#include "export/torch_weights.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/folder_lock.h"
#include "runtime/base/output_path.h"
#include "runtime/cli/program.h"
#include "runtime/model/model_file.h"
#include "runtime/model/safetensors.h"

namespace {

struct Options {
  std::string in;
  std::string out;
  std::string onnx;
  std::string safetensors;
  std::string values = "auto";
  bool keeps_dead_channels = false;
  std::string json;
};

// The run folder is that of the checkpoint, wherever the model file goes.
std::string summary_path(const Options& options) {
  return (std::filesystem::path(options.in).parent_path() / "export.json").string();
}

void require_consistent(const Options& options) {
  winnow::require_text_path(options.in);
  std::vector<std::string> outputs;
  for (const std::string& path : {options.out, options.onnx, options.safetensors}) {
    if (!path.empty()) outputs.push_back(path);
  }
  if (outputs.empty()) {
    winnow::fail(winnow::ErrorCode::usage,
                 "found none of --out, --onnx and --safetensors, expected at least one");
  }
  std::vector<std::string> own;
  if (!options.out.empty()) own.push_back(summary_path(options));
  winnow::require_distinct_outputs(
      {.inputs = {options.in}, .outputs = outputs, .own = own, .json = options.json});
}

winnow::WrittenFile written(const std::string& path) {
  return {path, static_cast<std::int64_t>(std::filesystem::file_size(path))};
}

// What can still be refused comes first.
winnow::WrittenFiles write_results(const Options& options, const winnow::Model& model,
                                   const winnow::DeployedModel& deployed) {
  winnow::WrittenFiles files;
  if (!options.onnx.empty()) {
    winnow::write_onnx(options.onnx, deployed);
    files.onnx = written(options.onnx);
  }
  if (!options.safetensors.empty()) {
    winnow::write_safetensors(options.safetensors, winnow::torch_weights(model, options.in));
    files.safetensors = written(options.safetensors);
    const std::string notice = winnow::torch_weights_notice(model);
    if (!notice.empty()) std::fprintf(stderr, "export: %s\n", notice.c_str());
  }
  if (!options.out.empty()) {
    winnow::write_model_file(options.out, deployed);
    files.model = written(options.out);
  }
  return files;
}

int run(const Options& options) {
  const winnow::ExportOptions how = {winnow::value_form_from(options.values),
                                     !options.keeps_dead_channels, options.in};
  require_consistent(options);
  const winnow::Model model = winnow::load_model(options.in);
  const auto lock = winnow::lock_run_folder_of(summary_path(options), "export");
  const winnow::ExportedModel exported = winnow::export_model(model, how);
  const winnow::WrittenFiles files = write_results(options, model, exported.model);
  winnow::ExportReport report = winnow::make_report(model, exported, files);
  report.source = options.in;
  report.values = options.values;
  std::fputs(winnow::report_table(report).c_str(), options.json == "-" ? stderr : stdout);
  const std::string json = winnow::report_json(report);
  if (!options.out.empty()) winnow::write_file_atomically(summary_path(options), json + "\n");
  winnow::write_json_output(options.json, json);
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--in", options.in, "Checkpoint (.safetensors) of import, prune or quantize")
      ->required();
  app.add_option("-o,--out", options.out, "Model file to write; replaced if it exists");
  app.add_option("--onnx", options.onnx, "ONNX model of the deployed network to write");
  app.add_option("--safetensors", options.safetensors,
                 "Weights to write for PyTorch: dense, batch norms as in the checkpoint");
  app.add_option("--values", options.values, "auto (as in the checkpoint), f32 or f16")
      ->capture_default_str();
  app.add_flag("--keep-dead-channels", options.keeps_dead_channels,
               "Do not remove channels that carry nothing");
  app.add_option("--json", options.json,
                 "Write the summary there too ('-': stdout); with --out, export.json lies beside "
                 "--in");
}

}  // namespace

int main(int argc, char** argv) {
  return winnow::run_program("export", [&] {
    CLI::App app("Write a checkpoint as a deployed model file (.wnw), an ONNX model or weights.",
                 "export");
    winnow::add_version_flag(app);
    Options options;
    add_options(app, options);
    app.footer("Example: export --in runs/vgg16/quantized.safetensors -o runs/vgg16/vgg16.wnw");
    if (const auto status = winnow::parse_command_line(app, argc, argv)) return *status;
    return run(options);
  });
}
