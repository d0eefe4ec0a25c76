#include "runtime/commands/challenge_run_options.h"

#include <CLI/CLI.hpp>

#include "runtime/base/thread_pool.h"
#include "runtime/challenge/engines/engines.h"
#include "runtime/challenge/engines/gpu/gpu_engines.h"
#include "runtime/cli/number_checks.h"

namespace winnow {
namespace {

constexpr int kMostGpus = 1024;  // numbers of them; which are there is asked later

void add_choice_of_work(CLI::App& app, ChallengeRunOptions& options) {
  app.add_option("dir", options.folder, "Folder with the data (docs/challenge-files.md)")
      ->required();
  app.add_option("--neurons", options.neurons, "Which network, if the folder holds several")
      ->check(count_of_32_bits(1));
  app.add_option("--layers", options.layers, "Only the first layers (default: all)")
      ->check(count_of_32_bits(1));
  app.add_option("--layers-from", options.first_layer, "First layer, from 0")
      ->check(count_of_32_bits(0))
      ->capture_default_str();
  app.add_option("--layers-to", options.last_layer, "Layer to stop before (default: the end)")
      ->check(count_of_32_bits(1));
  app.add_option("--images", options.images,
                 "The first N images, or A:B: from A to before B, from 0 (default: all)");
  app.add_option("--bias", options.bias,
                 "Bias of all neurons of a TSV network (default: the published one)")
      ->check(finite_float());
}

void add_engine_options(CLI::App& app, ChallengeRunOptions& options) {
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
      ->check(whole_number(0, ThreadPool::kMostThreads))
      ->capture_default_str();
  app.add_option("--blocks", engine.blocks, "cpu: parts that a layer is divided into")
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--gpu", engine.gpu, "GPU engines: which GPU")
      ->check(whole_number(0, kMostGpus))
      ->capture_default_str();
  app.add_option("--gpus", engine.gpus,
                 "GPU engines: split the images over these GPUs, for example 0,1")
      ->delimiter(',')
      ->check(whole_number(0, kMostGpus))
      ->excludes("--gpu");
  app.add_option("--images-at-once", engine.images_at_once,
                 "GPU engines: images at a time (default: as many as memory holds)")
      ->check(count_of_32_bits(1));
  app.add_option(
         "--streams", engine.streams,
         "tiled, cusparse-spmm, fused: divide the images into so many equal blocks, each on "
         "a CUDA stream of its own (default: 2 for fused in shared memory, else 1)")
      ->check(whole_number(1, challenge::kMostStreams));
  app.add_option(
         "--weight-memory", engine.weight_bytes,
         "fused: GPU memory for weights, for example 20GB; beyond it they are streamed from "
         "host memory (default: what is free)")
      ->transform(byte_size(1));
  app.add_flag("--no-half", options.has_no_half, "fused: no fp16 activations");
  app.add_option(
         "--full-precision-layers", engine.full_precision_layers,
         "fused, grouped: layers before activations become fp16; -1: by the number of neurons")
      ->check(whole_number(-1, 1 << 30))
      ->capture_default_str();
}

void add_result_options(CLI::App& app, ChallengeRunOptions& options) {
  app.add_option(
      "--truth", options.truth,
      "Categories to compare with; exit status 5 if they differ (default: the folder's)");
  app.add_option("--categories", options.categories, "Write the categories to this file");
  app.add_option("--json", options.json, "Write results as JSON to this file ('-': stdout)");
  app.add_option("--repeats", options.repeats, "Timed runs (default: 5; reference: 1)")
      ->check(whole_number(1, 1 << 20));
  app.add_option("--warm-up", options.warm_up, "Untimed runs before (default: 1; reference: 0)")
      ->check(whole_number(0, 1 << 20));
  app.add_option(
         "--gather", options.gather,
         "Several processes: how categories get to all (default: nccl for GPU engines, else tcp)")
      ->check(CLI::IsMember({"nccl", "tcp"}));
  app.add_flag("--include-transfer", options.includes_transfer,
               "Count the way of images and weights to the device in the rate");
  app.add_flag("--quiet", options.is_quiet, "No progress on stderr");
}

}  // namespace

void add_challenge_run_options(CLI::App& app, ChallengeRunOptions& options) {
  add_choice_of_work(app, options);
  add_engine_options(app, options);
  add_result_options(app, options);
}

}  // namespace winnow
