#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/challenge/compare.h"
#include "runtime/challenge/dataset.h"
#include "runtime/challenge/engines.h"
#include "runtime/challenge/tsv.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/challenge.h"
#include "runtime/commands/challenge_report.h"

namespace winnow {
namespace {

constexpr std::uint32_t kRepeats = 5;

struct RunOptions {
  std::string folder;
  std::string engine = "cpu", baseline;
  std::uint32_t neurons = 0, layers = 0;
  std::uint32_t first_layer = 0, last_layer = 0;  // 0: to the end
  std::string images;                             // "N" or "A:B"; empty for all
  std::optional<float> bias;
  std::string truth, categories, json;
  std::optional<std::uint32_t> repeats, warm_up;
  bool includes_transfer = false;
  bool is_quiet = false;
  challenge::EngineOptions engine_options;
  bool has_no_half = false;
};

struct ImageRange {
  std::uint32_t first = 0, last = 0;
};

std::optional<std::uint32_t> number_from(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

ImageRange image_range(const std::string& text, std::uint32_t images) {
  if (text.empty()) return {0, images};
  const std::size_t colon = text.find(':');
  const bool is_range = colon != std::string::npos;
  const auto first = is_range ? number_from(std::string_view(text).substr(0, colon)) : 0u;
  const auto last = number_from(std::string_view(text).substr(is_range ? colon + 1 : 0));
  if (!first || !last || *first >= *last) {
    fail(ErrorCode::usage, "--images ", in_quotes(text),
         ": expected N, or A:B with A < B, counted from 0");
  }
  if (*last > images) fail(ErrorCode::usage, "--images ", text, ": there are only ", images);
  return {*first, *last};
}

// Progress of something that counts layers; made when the first comes. Stops at Ctrl-C.
class LayerProgress {
 public:
  LayerProgress(std::string label, bool is_quiet) : label_(std::move(label)), is_quiet_(is_quiet) {}

  // Of `rounds` rounds through all layers this is number `round`, from 0.
  void update(std::uint32_t done, std::uint32_t all, std::uint32_t round = 0,
              std::uint32_t rounds = 1) {
    if (!shown_) shown_.emplace(label_, std::int64_t{all} * rounds, is_quiet_);
    shown_->update(std::int64_t{all} * round + done);
    if (InterruptGuard::requested()) fail(ErrorCode::interrupted, "challenge run: interrupted");
  }
  void finish() { shown_.reset(); }

 private:
  std::string label_;
  bool is_quiet_;
  std::optional<Progress> shown_;
};

// Reads no more layers than are asked for.
challenge::Dataset load(const RunOptions& options) {
  LayerProgress progress("challenge run: read layer", options.is_quiet);
  const std::uint32_t layers = options.last_layer > 0 ? options.last_layer : options.layers;
  if (options.layers > 0 && layers > options.layers) {
    fail(ErrorCode::usage, "--layers-to ", layers, " is more than --layers ", options.layers);
  }
  return challenge::open_dataset(
      options.folder, options.neurons, layers,
      [&](std::uint32_t done, std::uint32_t all) { progress.update(done, all); }, options.bias);
}

// Runs the engine and puts what it says and finds into the report.
class Measurement {
 public:
  Measurement(const RunOptions& options, ChallengeReport& report)
      : options_(options),
        report_(report),
        progress_("challenge run: " + report.engine + ": layer", options.is_quiet),
        repeats_(options.repeats.value_or(is_reference() ? 1 : kRepeats)) {
    report.warm_up = options.warm_up.value_or(is_reference() ? 0 : 1);
  }

  // Returns the categories, counted from the first image of `images`.
  challenge::Categories run(const challenge::Network& network,
                            const challenge::SparseImages& images) {
    const auto engine = prepare(network);
    engine->set_images(images);
    report_.kernel = engine->kernel();
    challenge::Categories categories;
    for (round_ = 0; round_ < rounds(); ++round_) {
      challenge::RunTimes times;
      challenge::Categories found = engine->run(times);
      if (round_ > 0 && found != categories) {
        fail(ErrorCode::internal, "engine ", report_.engine, ": run ", round_ + 1,
             " gave other categories than the one before");
      }
      categories = std::move(found);
      if (round_ >= report_.warm_up) report_.runs.push_back(times);
    }
    progress_.finish();
    report_.live = engine->live();
    return categories;
  }

 private:
  // An oracle is asked once; its speed is nobody's concern.
  bool is_reference() const { return report_.engine == "reference"; }
  std::uint32_t rounds() const { return report_.warm_up + repeats_; }

  std::unique_ptr<challenge::Engine> prepare(const challenge::Network& network) {
    challenge::EngineOptions engine_options = options_.engine_options;
    engine_options.progress = [this](std::uint32_t done, std::uint32_t all) {
      progress_.update(done, all, round_, rounds());
    };
    const auto start = std::chrono::steady_clock::now();
    auto engine = challenge::make_engine(report_.engine, network, engine_options);
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    report_.load_ms = ms.count();
    report_.device = engine->device();
    report_.clocks = engine->clocks();
    report_.discovery = engine->discovery();
    report_.prepare_ms = engine->prepare_ms();
    return engine;
  }

  const RunOptions& options_;
  ChallengeReport& report_;
  LayerProgress progress_;
  std::uint32_t repeats_;
  std::uint32_t round_ = 0;
};

// A truth file says what is left after all layers that the file is for; the folder's own is of no
// use to a run that leaves out the first ones.
std::string truth_for(const RunOptions& options, const challenge::Dataset& data) {
  if (!options.truth.empty()) return options.truth;
  return options.first_layer == 0 ? data.truth : "";
}

void finish(const RunOptions& options, const ChallengeReport& report,
            const ChallengeReport* baseline) {
  std::FILE* people = options.json == "-" ? stderr : stdout;
  std::fprintf(people, "%s", report_table(report, baseline).c_str());
  std::fflush(people);
  write_json_output(options.json, report_json(report, baseline));
  if (report.comparison && !report.comparison->is_equal()) {
    fail(ErrorCode::quality, report.truth, ": ", describe(*report.comparison));
  }
  if (baseline != nullptr && !baseline->comparison->is_equal()) {
    fail(ErrorCode::quality, "engine ", baseline->engine, " and ", baseline->truth, ": ",
         describe(*baseline->comparison));
  }
}

ChallengeReport report_of(const RunOptions& options, const challenge::Dataset& data,
                          const challenge::LayerRange& network, ImageRange range) {
  ChallengeReport report;
  report.network = data.network->name();
  report.neurons = network.neurons();
  report.first_layer = options.first_layer;
  report.last_layer = options.first_layer + network.layers();
  report.connections = network.connections();
  report.first_image = range.first;
  report.last_image = range.last;
  report.engine = options.engine;
  report.options = options.engine_options;
  report.includes_transfer = options.includes_transfer;
  report.truth = truth_for(options, data);
  return report;
}

// The same work with the other engine, in the same process on the same device.
ChallengeReport run_baseline(const RunOptions& options, ChallengeReport report,
                             const challenge::Network& network,
                             const challenge::SparseImages& images,
                             const challenge::Categories& expected) {
  report.engine = options.baseline;
  report.runs.clear();
  const challenge::Categories categories = Measurement(options, report).run(network, images);
  report.survivors = static_cast<std::uint32_t>(categories.size());
  report.truth = "engine " + options.engine;
  report.comparison = challenge::compare_categories(categories, expected);
  return report;
}

int run(const RunOptions& options) {
  const InterruptGuard guard;
  challenge::check_engine_name(options.engine);
  if (!options.baseline.empty()) challenge::check_engine_name(options.baseline);
  const challenge::Dataset data = load(options);
  const challenge::LayerRange network(
      *data.network, options.first_layer,
      options.last_layer > 0 ? options.last_layer : data.network->layers());
  const ImageRange range = image_range(options.images, data.images.images());
  const challenge::SparseImages images = slice(data.images, range.first, range.last);
  ChallengeReport report = report_of(options, data, network, range);
  std::optional<challenge::Categories> truth;  // read first: a long run should not end in a typo
  if (!report.truth.empty()) truth = challenge::read_categories_tsv(report.truth);
  challenge::Categories categories = Measurement(options, report).run(network, images);
  std::optional<ChallengeReport> baseline;
  if (!options.baseline.empty()) {
    baseline = run_baseline(options, report, network, images, categories);
  }
  for (std::uint32_t& image : categories) image += range.first;
  report.survivors = static_cast<std::uint32_t>(categories.size());
  if (!options.categories.empty()) challenge::write_categories_tsv(options.categories, categories);
  if (truth) {
    report.comparison = challenge::compare_categories(
        categories, challenge::categories_within(*truth, range.first, range.last));
  }
  finish(options, report, baseline ? &*baseline : nullptr);
  return 0;
}

void add_choice_of_work(CLI::App& app, RunOptions& options) {
  app.add_option("dir", options.folder, "Folder with the data (docs/challenge-files.md)")
      ->required();
  app.add_option("--neurons", options.neurons, "Which network, if the folder holds several");
  app.add_option("--layers", options.layers, "Only the first layers (default: all)");
  app.add_option("--layers-from", options.first_layer, "First layer, from 0")
      ->capture_default_str();
  app.add_option("--layers-to", options.last_layer, "Layer to stop before (default: the end)");
  app.add_option("--images", options.images,
                 "The first N images, or A:B: from A to before B, from 0 (default: all)");
  app.add_option("--bias", options.bias,
                 "Bias of all neurons of a TSV network (default: the published one)");
}

void add_engine_options(CLI::App& app, RunOptions& options) {
  std::string names;
  for (const std::string& name : challenge::engine_names()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  challenge::EngineOptions& engine = options.engine_options;
  app.add_option("--engine", options.engine, names)->capture_default_str();
  app.add_option("--baseline", options.baseline,
                 "Engine to run afterwards in the same process, to compare times and categories");
  app.add_option("--threads", engine.threads,
                 "Threads that compute or prepare the network, 0 for all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--blocks", engine.blocks, "cpu: parts that a layer is divided into")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--gpu", engine.gpu, "GPU engines: which GPU")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--gpus", engine.gpus,
                 "GPU engines: split the images over these GPUs, for example 0,1")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->excludes("--gpu");
  app.add_option("--images-at-once", engine.images_at_once,
                 "GPU engines: images at a time (default: as many as memory holds)");
  app.add_option(
         "--weight-memory", engine.weight_bytes,
         "fused: GPU memory for weights, for example 20GB; beyond it they are streamed from "
         "host memory (default: what is free)")
      ->transform(CLI::AsSizeValue(false));
  app.add_flag("--no-half", options.has_no_half, "fused: no fp16 activations");
  app.add_option("--full-precision-layers", engine.full_precision_layers,
                 "fused: layers before activations become fp16; -1: by the number of neurons")
      ->check(CLI::Range(-1, 1 << 30))
      ->capture_default_str();
  app.add_flag("--fold", engine.fold, "Compute outputs that are equal as a whole once");
}

void add_result_options(CLI::App& app, RunOptions& options) {
  app.add_option(
      "--truth", options.truth,
      "Categories to compare with; exit status 5 if they differ (default: the folder's)");
  app.add_option("--categories", options.categories, "Write the categories to this file");
  app.add_option("--json", options.json, "Write results as JSON to this file ('-': stdout)");
  app.add_option("--repeats", options.repeats, "Timed runs (default: 5; reference: 1)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--warm-up", options.warm_up, "Untimed runs before (default: 1; reference: 0)")
      ->check(CLI::Range(0, 1 << 20));
  app.add_flag("--include-transfer", options.includes_transfer,
               "Count the way of images and weights to the device in the rate");
  app.add_flag("--quiet", options.is_quiet, "No progress on stderr");
}

}  // namespace

Command add_challenge_run_command(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  add_choice_of_work(app, *options);
  add_engine_options(app, *options);
  add_result_options(app, *options);
  app.footer("Example: runtime challenge run data --engine cpu --json results.json");
  return [options] {
    options->engine_options.use_half = !options->has_no_half;
    return run(*options);
  };
}

}  // namespace winnow
