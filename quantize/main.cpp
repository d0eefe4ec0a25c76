// quantize: a pruned checkpoint in, a checkpoint with codes for weights out.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>

#include "quantize/quantize_program.h"
#include "runtime/base/error.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/program.h"

namespace winnow {
namespace {

struct Arguments {
  QuantizeOptions options;
  std::string scheme = "4b/16b";
  std::string first_layer = "16b";
  std::string channel_scale = "auto";
  std::optional<double> max_drop;  // points
  bool skips_accuracy = false;
  bool skips_refinement = false;
  bool keeps_biases = false;
};

void declare_files(CLI::App& app, Arguments& arguments) {
  QuantizeOptions& options = arguments.options;
  app.add_option("--in", options.in, "Checkpoint (.safetensors) of prune or import")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--out", options.out, "Result (default: quantized.safetensors beside --in)")
      ->type_name("FILE");
  app.add_option("--json", options.json,
                 "Write the summary there too ('-': stdout); quantize.json lies beside the result")
      ->type_name("FILE");
  app.add_flag("--quiet", options.is_quiet, "No progress on stderr");
}

void declare_quantization(CLI::App& app, Arguments& arguments) {
  QuantizeOptions& options = arguments.options;
  app.add_option("--scheme", arguments.scheme,
                 "WEIGHTS/ACTIVATIONS: 4b (16 centroids), 8b-codebook (256), 8b or 16b (fixed "
                 "point), 32b (as is) / 16b, 8b, 32b")
      ->capture_default_str();
  app.add_option("--first-layer", arguments.first_layer,
                 "Form of layers that read the input, if weights are 4b and the layer is small: "
                 "16b, 8b, 8b-codebook, 32b or 4b")
      ->capture_default_str();
  app.add_option("--activation-range", options.range_name,
                 "How activations' range is chosen from their histogram: mse (least squared "
                 "error), max (eq 6) or percentile (99.99 %)")
      ->capture_default_str();
  app.add_option("--channel-scale", arguments.channel_scale,
                 "A scale per output channel for codebooks: auto (where it is worth its 2 bytes a "
                 "channel) or off")
      ->capture_default_str();
  app.add_flag("--no-refine", arguments.skips_refinement,
               "Keep the centroids of the weights rounded to fp16");
  app.add_flag("--no-bias-correction", arguments.keeps_biases,
               "Keep the biases, which else take back what quantized weights add to outputs on "
               "average over the training images of --calibration");
}

void declare_measurement(CLI::App& app, Arguments& arguments) {
  QuantizeOptions& options = arguments.options;
  app.add_option("--data", options.data,
                 "FORMAT:DIRECTORY of the images (default: those of the pruning run)");
  app.add_option(
         "--limit", options.limit,
         "Measure on at most this many test images, evenly spread; 0: as many as the pruning run")
      ->check(whole_number(0))
      ->capture_default_str();
  app.add_option("--calibration", options.calibration,
                 "Training images on which activations and layers' inputs are observed")
      ->check(whole_number(1))
      ->capture_default_str();
  app.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--batch", options.batch, "Images at once")
      ->check(whole_number(1))
      ->capture_default_str();
  CLI::Option* skip = app.add_flag("--no-accuracy", arguments.skips_accuracy,
                                   "Read no images; activations and biases then stay as they are");
  app.add_option("--max-drop", arguments.max_drop,
                 "End with status 5 if accuracy falls by more than this many points")
      ->check(number_between(0, 100))
      ->excludes(skip);
}

int run(Arguments& arguments) {
  QuantizeOptions& options = arguments.options;
  options.scheme = scheme_from(arguments.scheme);
  options.first_layer = weight_form_from(arguments.first_layer);
  options.channel_scale = channel_scale_from(arguments.channel_scale);
  options.range = range_rule_from(options.range_name);
  options.measures_accuracy = !arguments.skips_accuracy;
  options.refine = !arguments.skips_refinement;
  options.corrects_biases = !arguments.keeps_biases;
  const QuantizationReport report = run_quantize(options);
  std::FILE* out = options.json == "-" ? stderr : stdout;
  std::fputs(report_table(report).c_str(), out);
  std::fprintf(out, "written: %s\n", one_line(report.output).c_str());
  write_json_output(options.json, report_json(report));
  if (arguments.max_drop && report.accuracy &&
      report.accuracy->drop_points() > *arguments.max_drop) {
    fail(ErrorCode::quality, report.output, ": accuracy fell by ", report.accuracy->drop_points(),
         " points, at most ", *arguments.max_drop, " allowed");
  }
  return 0;
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::leave(winnow::run_program("quantize", [&] {
    CLI::App app("Quantize the weights and activations of a pruned network.", "quantize");
    winnow::add_version_flag(app);
    winnow::Arguments arguments;
    winnow::declare_files(app, arguments);
    winnow::declare_quantization(app, arguments);
    winnow::declare_measurement(app, arguments);
    app.footer("Example: quantize --in runs/vgg16/pruned.safetensors --scheme 4b/16b");
    if (const auto status = winnow::parse_command_line(app, argc, argv)) return *status;
    return winnow::run(arguments);
  }));
}
