// export: a pruned or quantized checkpoint in, a deployed model file out.
#include <cstdio>
#include <filesystem>

#include "export/export_report.h"
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
  std::string values = "auto";
  bool keeps_dead_channels = false;
  std::string json;
};

// The run folder is that of the checkpoint, wherever the model file goes.
std::string summary_path(const Options& options) {
  return (std::filesystem::path(options.in).parent_path() / "export.json").string();
}

int run(const Options& options) {
  const winnow::ExportOptions how = {winnow::value_form_from(options.values),
                                     !options.keeps_dead_channels, options.in};
  winnow::require_text_path(options.in);
  winnow::require_distinct_outputs({.inputs = {options.in},
                                    .outputs = {options.out},
                                    .own = {summary_path(options)},
                                    .json = options.json});
  const winnow::Model model = winnow::load_model(options.in);
  const auto lock = winnow::lock_run_folder_of(summary_path(options), "export");
  const winnow::ExportedModel exported = winnow::export_model(model, how);
  winnow::write_model_file(options.out, exported.model);
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(options.out));
  const winnow::ExportReport report = winnow::make_report(model, exported, options.out, bytes);
  std::fputs(winnow::report_table(report).c_str(), options.json == "-" ? stderr : stdout);
  const std::string json = winnow::report_json(report);
  winnow::write_file_atomically(summary_path(options), json + "\n");
  winnow::write_json_output(options.json, json);
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
                   "Write the summary there too ('-': stdout); export.json lies beside --in");
    app.footer("Example: export --in runs/vgg16/quantized.safetensors -o runs/vgg16/vgg16.wnw");
    if (const auto status = winnow::parse_command_line(app, argc, argv)) return *status;
    return run(options);
  });
}
