#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/challenge/compare.h"
#include "runtime/challenge/engines/engines.h"
#include "runtime/challenge/files/dataset.h"
#include "runtime/challenge/files/text/tsv.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/challenge.h"
#include "runtime/commands/challenge_ranks.h"
#include "runtime/commands/challenge_report.h"
#include "runtime/commands/challenge_run_options.h"
#include "runtime/device/memory_use.h"

namespace winnow {
namespace {

using challenge::RankGroup;

constexpr std::uint32_t kRepeats = 5;

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

// Those of all networks are large: two copies of them are not kept.
challenge::SparseImages images_within(challenge::SparseImages all, ImageRange range) {
  if (range.first == 0 && range.last == all.images()) return all;
  return slice(all, range.first, range.last);
}

// Progress of something that counts layers; made when the first comes. Stops at Ctrl-C, and where
// another rank is lost.
class LayerProgress {
 public:
  LayerProgress(std::string label, bool is_quiet, RankGroup* group)
      : label_(std::move(label)), is_quiet_(is_quiet), group_(group) {}

  // Of `rounds` rounds through all layers this is number `round`, from 0.
  void update(std::uint32_t done, std::uint32_t all, std::uint32_t round = 0,
              std::uint32_t rounds = 1) {
    if (!shown_) shown_.emplace(label_, std::int64_t{all} * rounds, is_quiet_);
    shown_->update(std::int64_t{all} * round + done);
    if (InterruptGuard::requested()) fail(ErrorCode::interrupted, "challenge run: interrupted");
    if (group_ != nullptr) group_->require_all();
  }
  void finish() { shown_.reset(); }

 private:
  std::string label_;
  bool is_quiet_;
  RankGroup* group_;
  std::optional<Progress> shown_;
};

// Reads no more layers than are asked for.
challenge::Dataset load(const ChallengeRunOptions& options, RankGroup* group) {
  LayerProgress progress("challenge run: read layer", options.is_quiet, group);
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
  Measurement(const ChallengeRunOptions& options, ChallengeReport& report, RankGroup* group)
      : options_(options),
        report_(report),
        group_(group),
        loading_("challenge run: " + report.engine + ": prepare layer", options.is_quiet, group),
        progress_("challenge run: " + report.engine + ": layer", options.is_quiet, group),
        repeats_(options.repeats.value_or(is_reference() ? 1 : kRepeats)) {
    report.warm_up = options.warm_up.value_or(is_reference() ? 0 : 1);
  }

  // `images` are those that the report names. Returns the categories, counted in all images.
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
    report_.peak_gpu_bytes = device_memory_use.peak();
    if (group_ != nullptr) report_ranks(*group_, *engine, report_);
    report_.live = engine->live();
    report_.survivors = static_cast<std::uint32_t>(categories.size());
    for (std::uint32_t& image : categories) image += report_.first_image;
    report_.categories_sha256 = challenge::categories_sha256(categories);
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
    engine_options.loading = [this](std::uint32_t done, std::uint32_t all) {
      loading_.update(done, all);
    };
    device_memory_use.restart_peak();
    const auto start = std::chrono::steady_clock::now();
    auto engine =
        make_rank_engine(report_.engine, network, engine_options, options_.gather, group_);
    loading_.finish();
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    report_.load_ms = ms.count();
    report_.device = engine->device();
    report_.clocks = engine->clocks();
    report_.discovery = engine->discovery();
    report_.prepare_ms = engine->prepare_ms();
    return engine;
  }

  const ChallengeRunOptions& options_;
  ChallengeReport& report_;
  RankGroup* group_;
  LayerProgress loading_, progress_;
  std::uint32_t repeats_;
  std::uint32_t round_ = 0;
};

// A truth file says what is left after all layers that the file is for; the folder's own is of no
// use to a run that leaves out the first ones.
std::string truth_for(const ChallengeRunOptions& options, const challenge::Dataset& data) {
  if (!options.truth.empty()) return options.truth;
  return options.first_layer == 0 ? data.truth : "";
}

void finish(const ChallengeRunOptions& options, const ChallengeReport& report,
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

ChallengeReport report_of(const ChallengeRunOptions& options, const challenge::Dataset& data,
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

// What there is to do.
struct Work {
  Work(const ChallengeRunOptions& options, RankGroup* group)
      : data(load(options, group)),
        network(*data.network, options.first_layer,
                options.last_layer > 0 ? options.last_layer : data.network->layers()),
        range(image_range(options.images, data.images.images())),
        images(images_within(std::move(data.images), range)) {
    const std::string file = truth_for(options, data);
    if (file.empty()) return;
    truth =
        challenge::categories_within(challenge::read_categories_tsv(file), range.first, range.last);
  }

  challenge::Dataset data;  // without images
  challenge::LayerRange network;
  ImageRange range;
  challenge::SparseImages images;
  std::optional<challenge::Categories> truth;  // read first: a long run should not end in a typo
};

bool is_first(const RankGroup* group) {
  return group == nullptr || group->rank() == 0;
}

// The same work with the other engine, in the same process on the same device. If that fails, what
// was measured before is not lost.
ChallengeReport run_baseline(const ChallengeRunOptions& options, const Work& work,
                             const ChallengeReport& report, const challenge::Categories& expected,
                             RankGroup* group) {
  ChallengeReport baseline = report_of(options, work.data, work.network, work.range);
  baseline.engine = options.baseline;
  baseline.truth = "engine " + options.engine;
  try {
    const challenge::Categories found =
        Measurement(options, baseline, group).run(work.network, work.images);
    baseline.comparison = challenge::compare_categories(found, expected);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::interrupted && is_first(group)) finish(options, report, nullptr);
    throw;
  }
  return baseline;
}

// Engines go by their present names in everything that is written.
void rename_engine(std::string& engine) {
  const std::string name = challenge::current_engine_name(engine);
  if (name != engine && rank_place().rank == 0) {
    std::fprintf(stderr,
                 "challenge run: engine %s is called %s; the next version knows that name only\n",
                 engine.c_str(), name.c_str());
  }
  engine = name;
}

// `truth` is the file that is compared with; empty if there is none.
void check_files(const ChallengeRunOptions& options, const std::string& truth) {
  ProgramFiles files{.inputs = {}, .outputs = {}, .own = {}, .json = options.json};
  if (!truth.empty()) files.inputs.push_back(truth);
  if (!options.categories.empty()) files.outputs.push_back(options.categories);
  require_text_path(options.folder);
  require_text_path(truth);
  require_distinct_outputs(files);
}

// Of a process, alone (no group) or one of several.
int run(const ChallengeRunOptions& options, RankGroup* group) {
  challenge::check_engine(options.engine, options.engine_options);
  if (!options.baseline.empty()) challenge::check_engine(options.baseline, options.engine_options);
  check_files(options, options.truth);
  const Work work(options, group);
  check_files(options, truth_for(options, work.data));
  ChallengeReport report = report_of(options, work.data, work.network, work.range);
  if (group != nullptr) require_same_work(*group, options, report, work.images);
  const challenge::Categories categories =
      Measurement(options, report, group).run(work.network, work.images);
  if (!options.categories.empty()) challenge::write_categories_tsv(options.categories, categories);
  if (work.truth) report.comparison = challenge::compare_categories(categories, *work.truth);
  std::optional<ChallengeReport> baseline;
  if (!options.baseline.empty()) baseline = run_baseline(options, work, report, categories, group);
  if (is_first(group)) finish(options, report, baseline ? &*baseline : nullptr);
  return 0;
}

// What only several processes or GPU engines read must not be thought to have had an effect.
void refuse_idle_options(const CLI::App& app, const ChallengeRunOptions& options) {
  if (!options.gather.empty() && rank_place().size == 1) {
    fail(ErrorCode::usage, "--gather has no effect: one process runs alone");
  }
  if (challenge::runs_on_gpu(options.engine)) return;
  if (!options.baseline.empty() && challenge::runs_on_gpu(options.baseline)) return;
  for (const char* name : {"--gpu", "--images-at-once", "--streams", "--weight-memory", "--no-half",
                           "--full-precision-layers"}) {
    if (app.count(name) == 0) continue;
    fail(ErrorCode::usage, name, " has no effect: engine ", options.engine, " runs on no GPU");
  }
}

}  // namespace

Command add_challenge_run_command(CLI::App& app) {
  auto options = std::make_shared<ChallengeRunOptions>();
  add_challenge_run_options(app, *options);
  app.footer("Example: runtime challenge run data --engine cpu --json results.json");
  return [options, &app] {
    rename_engine(options->engine);
    rename_engine(options->baseline);
    refuse_idle_options(app, *options);
    options->engine_options.use_half = !options->has_no_half;
    options->has_gpu = app.count("--gpu") + app.count("--gpus") > 0;
    const InterruptGuard guard;
    return run_as_rank(*options, run);
  };
}

}  // namespace winnow
