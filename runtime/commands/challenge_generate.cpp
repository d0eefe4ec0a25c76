#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/error.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/dataset_writer.h"
#include "runtime/challenge/generate/fft.h"
#include "runtime/challenge/generate/image_generator.h"
#include "runtime/challenge/generate/network_generator.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/challenge.h"
#include "runtime/images/idx.h"

namespace winnow {
namespace {

struct GenerateOptions {
  challenge::NetworkRecipe recipe;
  bool is_published = false;
  std::string weights = "constant";
  std::string pictures;
  std::uint32_t images = 0;  // 0: as many as there are pictures
  std::string only;          // "network", "images" or empty for both
  std::string folder;
  std::string form = "binary";
  bool is_quiet = false;

  bool wants_network() const { return only != "images"; }
  bool wants_images() const { return only != "network"; }
};

using Callback = std::function<void(std::uint32_t, std::uint32_t)>;

// Shows progress, anew when there turns out to be more to do, and stops at Ctrl-C.
Callback progress_of(std::optional<Progress>& shown, const std::string& unit,
                     const GenerateOptions& options) {
  return [&shown, unit, &options, expected = 0u](std::uint32_t done, std::uint32_t total) mutable {
    if (total != expected) {
      shown.emplace("challenge generate: " + unit, total, options.is_quiet);
      expected = total;
    }
    shown->update(done);
    if (InterruptGuard::requested()) fail(ErrorCode::interrupted, options.folder, ": interrupted");
  };
}

// Data of two networks side by side would be taken for one.
void refuse_existing(const GenerateOptions& options) {
  const std::uint32_t neurons = options.recipe.neurons;
  std::vector<std::string> names;
  if (options.wants_network()) {
    const std::string layer = challenge::layer_file_name(neurons, 1);
    const std::string inner = challenge::layer_folder_name(neurons) + "/";
    names = {challenge::network_file_name(neurons),
             inner + challenge::unfinished_file_name(),
             inner + layer,
             inner + layer + ".gz",
             layer,
             layer + ".gz"};
  }
  if (options.wants_images()) {
    const std::string text = challenge::images_file_name(neurons, false);
    names.insert(names.end(), {challenge::images_file_name(neurons, true), text, text + ".gz"});
  }
  for (const std::string& name : names) {
    const std::string path = options.folder + "/" + name;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      fail(ErrorCode::usage, path, ": is there already; remove it or take another folder");
    }
  }
}

void check(GenerateOptions& options) {
  if (!options.is_published && !options.recipe.seed) {
    fail(ErrorCode::usage, "expected --published, for the challenge's own network, or --seed");
  }
  const std::vector<std::string> kinds = {"constant", "positive", "random"};  // as Weights
  const std::vector<std::string> parts = {"network", "images"};
  const auto kind = std::ranges::find(kinds, options.weights);
  if (kind == kinds.end()) {
    fail(ErrorCode::usage, "unknown weights ", in_quotes(options.weights),
         suggestion(options.weights, kinds));
  }
  options.recipe.weights = static_cast<challenge::Weights>(kind - kinds.begin());
  if (!options.only.empty() && std::ranges::count(parts, options.only) == 0) {
    fail(ErrorCode::usage, "--only ", in_quotes(options.only), suggestion(options.only, parts));
  }
  if (options.wants_images() && options.pictures.empty()) {
    fail(ErrorCode::usage, "images are made from --mnist FILE; or take --only network");
  }
  if (options.wants_images() && !challenge::missing_fft().empty()) {
    fail(ErrorCode::usage, "images cannot be made: ", challenge::missing_fft(),
         "; take --only network, or build again with FFTW");
  }
  require_output_folder(options.folder);
  refuse_existing(options);
}

void generate_network(const GenerateOptions& options, const challenge::Network& network,
                      const challenge::DatasetWriter& writer) {
  std::optional<Progress> shown;
  const challenge::WrittenNetwork written =
      writer.write(network, progress_of(shown, "layer", options));
  shown.reset();
  std::printf(
      "%s: %s, %llu connections\n", one_line(writer.network_path(network.neurons())).c_str(),
      one_line(network.name()).c_str(), static_cast<unsigned long long>(written.connections));
  print_bias_to_give(written.bias_to_give);
}

// The binary form is written in pieces, so that bits and numbers of all images need not be in
// memory together. Returns the number of ones.
std::uint64_t write_images(const challenge::PixelPlanes& planes, std::uint32_t neurons,
                           const challenge::DatasetWriter& writer) {
  if (writer.form() != challenge::FileForm::binary) {
    const challenge::SparseImages images = planes.to_images(0, planes.images(), neurons);
    writer.write(images);
    return images.ones();
  }
  constexpr std::uint32_t kPiece = 8 * challenge::kImagesPerBlock;
  challenge::ImagesFileWriter file(writer.images_path(neurons), neurons, planes.images());
  std::uint64_t ones = 0;
  for (std::uint32_t first = 0; first < planes.images(); first += kPiece) {
    const std::uint32_t last = first + std::min(kPiece, planes.images() - first);
    const challenge::SparseImages piece = planes.to_images(first, last, neurons);
    file.append(piece);
    ones += piece.ones();
  }
  file.commit();
  return ones;
}

void generate_images(const GenerateOptions& options, const ImageSet& pictures,
                     const challenge::DatasetWriter& writer) {
  const std::uint32_t neurons = options.recipe.neurons;
  const auto kept =
      options.images > 0 ? options.images : static_cast<std::uint32_t>(pictures.count);
  std::optional<Progress> shown;
  const challenge::PixelPlanes planes = challenge::enlarge(
      pictures, challenge::image_side(neurons), kept, progress_of(shown, "row of pixels", options));
  shown.reset();
  const std::uint64_t ones = write_images(planes, neurons, writer);
  const auto published = challenge::published_ones(neurons);
  const char* comparison = !published || kept != challenge::kPublishedImages ? ""
                           : ones == *published ? ", as many as in the published images"
                                                : ", not those of the published images";
  std::printf("%s: %u images, %llu ones%s\n", one_line(writer.images_path(neurons)).c_str(), kept,
              static_cast<unsigned long long>(ones), comparison);
}

int generate(GenerateOptions& options) {
  check(options);
  const auto network = challenge::make_network(options.recipe);
  ImageSet pictures;
  if (options.wants_images()) pictures = read_idx_images(options.pictures);
  const challenge::DatasetWriter writer(options.folder, challenge::form_from(options.form));
  const InterruptGuard guard;
  if (options.wants_images()) generate_images(options, pictures, writer);
  if (options.wants_network()) generate_network(options, *network, writer);
  return 0;
}

void add_network_options(CLI::App& app, GenerateOptions& options) {
  challenge::NetworkRecipe& recipe = options.recipe;
  CLI::Option* published = app.add_flag("--published", options.is_published,
                                        "The challenge's own network: 1024, 4096, 16384 or 65536 "
                                        "neurons, up to 1920 layers");
  app.add_option("--neurons", recipe.neurons, "Neurons of every layer")
      ->check(count_of_32_bits(1))
      ->capture_default_str();
  app.add_option("--layers", recipe.layers, "Layers")
      ->check(count_of_32_bits(1))
      ->capture_default_str();
  const std::vector<CLI::Option*> others = {
      app.add_option("--seed", recipe.seed, "Another network of the same kind")
          ->check(count_of_32_bits(0)),
      app.add_flag("--shuffle", recipe.is_shuffled,
                   "Random connections: no two outputs share their inputs"),
      app.add_option("--weights", options.weights, "constant (2 / connections), positive or random")
          ->capture_default_str(),
      app.add_option("--connections", recipe.connections, "Connections of every output")
          ->check(count_of_32_bits(1))
          ->capture_default_str(),
      app.add_option("--bias", recipe.bias,
                     "Bias of all neurons (default: one that a few per cent of MNIST outlive)")
          ->check(finite_float())};
  for (CLI::Option* other : others) other->excludes(published);
}

}  // namespace

Command add_challenge_generate_command(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  add_network_options(app, *options);
  app.add_option("--mnist", options->pictures,
                 "Grey pictures to make images from, such as train-images-idx3-ubyte.gz");
  app.add_option("--images", options->images, "Only the first images (default: all)")
      ->check(count_of_32_bits(1));
  app.add_option("--only", options->only, "network or images (default: both)");
  app.add_option("-o,--output", options->folder, "Folder to write to")->required();
  app.add_option("--form", options->form, "tsv, tsv.gz or binary")->capture_default_str();
  app.add_flag("--quiet", options->is_quiet, "No progress on stderr");
  app.footer(
      "Example: runtime challenge generate --published --neurons 1024 --layers 120\n"
      "           --mnist train-images-idx3-ubyte.gz -o data");
  return [options] { return generate(*options); };
}

}  // namespace winnow
