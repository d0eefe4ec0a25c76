#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/error.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/challenge/files/convert.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/challenge.h"

namespace winnow {
namespace {

struct ConvertOptions {
  std::string folder;
  std::string output;
  std::string form = "binary";
  std::uint32_t neurons = 0;
  std::uint32_t layers = 0;
  std::optional<float> bias;
  bool is_quiet = false;
};

// The shortest text that gives the same float again.
std::string text_of(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

void print_summary(const ConvertOptions& options, const challenge::Conversion& result) {
  std::printf("%s: %u layers, %llu connections, ", one_line(options.output).c_str(), result.layers,
              static_cast<unsigned long long>(result.connections));
  if (result.images > 0) {
    std::printf("%u images, ", result.images);
  } else {
    std::printf("no images, ");
  }
  std::printf("%s\n", result.has_truth ? "categories" : "no categories");
  print_bias_to_give(result.bias_to_give);
}

int convert(const ConvertOptions& options) {
  const challenge::FileForm form = challenge::form_from(options.form);
  const challenge::DatasetFiles files =
      challenge::find_dataset(options.folder, options.neurons, options.layers);
  require_output_folder(options.output);
  const InterruptGuard guard;
  std::optional<Progress> shown;
  const auto progress = [&](std::uint32_t done, std::uint32_t total) {
    if (!shown) shown.emplace("challenge convert: layer", total, options.is_quiet);
    shown->update(done);
    if (InterruptGuard::requested()) fail(ErrorCode::interrupted, options.output, ": interrupted");
  };
  const challenge::Conversion result =
      challenge::convert_dataset(files, options.bias, form, options.output, progress);
  shown.reset();
  print_summary(options, result);
  return 0;
}

}  // namespace

void print_bias_to_give(std::optional<float> bias) {
  if (!bias) return;
  std::printf("these text files hold no bias: give --bias %s when they are read\n",
              text_of(*bias).c_str());
}

Command add_challenge_convert_command(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  app.add_option("dir", options->folder, "Folder with the data (docs/challenge-files.md)")
      ->required();
  app.add_option("-o,--output", options->output, "Folder to write to; may be the same")->required();
  app.add_option("--form", options->form, "tsv, tsv.gz or binary")->capture_default_str();
  app.add_option("--neurons", options->neurons, "Which network, if the folder holds several")
      ->check(count_of_32_bits(1));
  app.add_option("--layers", options->layers, "Only the first layers (default: all)")
      ->check(count_of_32_bits(1));
  app.add_option("--bias", options->bias,
                 "Bias of all neurons of a TSV network (default: the published one)")
      ->check(finite_float());
  app.add_flag("--quiet", options->is_quiet, "No progress on stderr");
  app.footer("Example: runtime challenge convert data -o data --form binary");
  return [options] { return convert(*options); };
}

}  // namespace winnow
