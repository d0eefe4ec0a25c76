// export: a pruned or quantized checkpoint in, a deployed model file out.
#include <cstdio>
#include <filesystem>

#include "export/export_report.h"
#include "runtime/cli/program.h"
#include "runtime/model/model_file.h"
#include "runtime/model/safetensors.h"

namespace {

struct Options {
  std::string in;
  std::string out;
  std::string values = "auto";
  bool keeps_dead_channels = false;
  std::string json;
};

// The summary lies beside the model file unless the user says otherwise.
std::string json_path(const Options& options) {
  if (!options.json.empty()) return options.json;
  return (std::filesystem::path(options.out).parent_path() / "export.json").string();
}

int run(const Options& options) {
  const winnow::ExportOptions how = {winnow::value_form_from(options.values),
                                     !options.keeps_dead_channels};
  const winnow::Model model = winnow::load_model(options.in);
  const winnow::ExportedModel exported = winnow::export_model(model, how);
  winnow::write_model_file(options.out, exported.model);
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(options.out));
  const winnow::ExportReport report = winnow::make_report(model, exported, options.out, bytes);
  std::fputs(winnow::report_table(report).c_str(), options.json == "-" ? stderr : stdout);
  winnow::write_json_output(json_path(options), winnow::report_json(report));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return winnow::run_program("export", [&] {
    CLI::App app("Write a checkpoint as a deployed model file (.wnw).", "export");
    winnow::add_version_flag(app);
    Options options;
    app.add_option("--in", options.in, "Checkpoint (.safetensors) of prune or quantize")
        ->required();
    app.add_option("-o,--out", options.out, "Model file to write; replaced if it exists")
        ->required();
    app.add_option("--values", options.values, "auto (as in the checkpoint), f32 or f16")
        ->capture_default_str();
    app.add_flag("--keep-dead-channels", options.keeps_dead_channels,
                 "Do not remove channels that carry nothing");
    app.add_option("--json", options.json,
                   "Summary as JSON ('-': stdout); default: export.json beside the model file");
    app.footer("Example: export --in runs/vgg16/quantized.safetensors -o runs/vgg16/vgg16.wnw");
    if (const auto status = winnow::parse_command_line(app, argc, argv)) return *status;
    return run(options);
  });
}
