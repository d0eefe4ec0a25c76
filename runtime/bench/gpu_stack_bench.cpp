// Stacks of sparse linear layers as deployed models on one GPU: JSON lines on stdout.
//
// Each line is one way to run one stack: time of the whole network with inputs and weights resident
// (one CUDA graph launch, median), from and to row-major fp32. Dense kernels see the same weights
// with their zeros.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/median.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/random_weight.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/plan/choice.h"

namespace winnow {
namespace {

struct BenchStack {
  std::string name;
  std::vector<std::int64_t> widths;  // of the input and of each layer's output
  std::vector<double> kept;          // weights per output, by layer: at least one value, the last
                                     // of which counts for all further layers
};

// kept / inputs is the density of a layer.
std::vector<BenchStack> all_stacks() {
  return {{"lenet 784-300-100-10, 5 %", {784, 300, 100, 10}, {39, 15, 5}},
          {"mlp 8 x 1024, 32 an output", std::vector<std::int64_t>(9, 1024), {32}},
          {"mlp 8 x 1024, 102 an output", std::vector<std::int64_t>(9, 1024), {102}},
          {"mlp 120 x 1024, 32 an output", std::vector<std::int64_t>(121, 1024), {32}},
          {"mlp 8 x 4096, 32 an output", std::vector<std::int64_t>(9, 4096), {32}},
          {"vgg16 fc, 4 %", {25088, 4096, 4096, 1000}, {1004, 164, 164}},
          {"vgg16 fc, 1 %", {25088, 4096, 4096, 1000}, {251, 41, 41}}};
}

DeployedModel model_of(const BenchStack& bench, int vector) {
  DeployedModel model;
  model.graph = {"bench", {{"input", Input{{bench.widths[0]}, false}, {}}}};
  for (std::size_t l = 0; l + 1 < bench.widths.size(); ++l) {
    const std::int64_t in = bench.widths[l], out = bench.widths[l + 1];
    const std::string name = "fc" + std::to_string(l + 1);
    model.graph.nodes.push_back({name, Linear{in, out, true}, {model.graph.nodes.back().name}});
    model.graph.nodes.push_back({"relu" + std::to_string(l + 1), Relu{}, {name}});
    const double kept = bench.kept[std::min(l, bench.kept.size() - 1)];
    CsrWeight weight = random_weight({out, in, vector}, 1 - kept / static_cast<double>(in),
                                     RandomMask::independent, l + 1);
    // So that values neither die nor grow from layer to layer: kept x mean square is about 2.
    std::vector<float> values = decode(weight.values);
    for (float& value : values) value *= static_cast<float>(std::sqrt(6 / kept));
    weight.values = encode_f32(values);
    model.weights[name + ".weight"] = std::move(weight);
    const std::vector<float> bias(static_cast<std::size_t>(out), 0.01f);
    model.weights[name + ".bias"] = DenseWeight{{out}, encode_f32(bias)};
  }
  return model;
}

struct Arguments {
  GpuBenchOptions common{.batches = {1, 16, 128, 1024, 8192}, .vectors = {1}};
  std::vector<std::string> families = {"dense", "sparse_linear", "linear_gather", "linear_stack",
                                       "measured"};
  std::string only;
  int repeats = 21;
};

SessionOptions session_options(const Arguments& arguments, const std::string& family,
                               std::int64_t batch, const std::string& precision) {
  SessionOptions options = bench_session(arguments.common, batch, precision);
  if (family == "dense") {
    options.choice = KernelChoice::dense;
  } else if (family != "measured") {
    options.family = family;
  }
  return options;
}

// The kernels that ran, each once, in order.
std::string kernels_of(const Session& session) {
  std::string text, last;
  for (const LayerPlan& layer : session.layers()) {
    if (layer.kernel == last) continue;
    last = layer.kernel;
    text += (text.empty() ? "" : "; ") + last;
    if (text.size() > 160) return text + " ...";
  }
  return text;
}

// What the planner timed for the last layer, which launches the stack.
nlohmann::ordered_json forms_of(const Session& session) {
  nlohmann::ordered_json forms;
  const std::vector<LayerPlan> layers = session.layers();
  for (const CandidateTiming& timing : layers.back().candidates) {
    forms[timing.kernel] = timing.ms;
  }
  return forms;
}

// Returns the median; 0 if the family cannot run the stack.
double bench_one(const BenchStack& bench, const DeployedModel& model, int vector,
                 const std::string& family, const SessionOptions& options, double dense_ms,
                 int repeats) {
  nlohmann::ordered_json line = {{"stack", bench.name},
                                 {"batch", options.batch},
                                 {"precision", math_name(options.precision, options.use_tf32)},
                                 {"vector", vector},
                                 {"family", family}};
  double ms = 0;
  try {
    const auto session = make_gpu_session(model, options);
    const std::vector<double> times = session->time_network(3, repeats);
    ms = median(times);
    const auto [fastest, slowest] = std::minmax_element(times.begin(), times.end());
    line["ms"] = ms;
    line["repeats"] = repeats;
    line["spread"] = (*slowest - *fastest) / ms;
    if (dense_ms > 0) line["speed_up_over_dense"] = dense_ms / ms;
    line["kernels"] = kernels_of(*session);
    if (family == "linear_stack") line["forms_ms"] = forms_of(*session);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    line["cannot"] = error.what();
  }
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  return ms;
}

void bench_stack(const BenchStack& bench, int vector, const Arguments& arguments) {
  const DeployedModel model = model_of(bench, vector);
  for (const std::string& precision : arguments.common.precisions) {
    for (const std::int64_t batch : arguments.common.batches) {
      double dense_ms = 0;
      for (const std::string& family : arguments.families) {
        const double ms = bench_one(bench, model, vector, family,
                                    session_options(arguments, family, batch, precision), dense_ms,
                                    arguments.repeats);
        if (family == "dense") dense_ms = ms;
      }
    }
  }
}

int run(const Arguments& arguments) {
  const nlohmann::ordered_json header = {{"gpu", gpu_description(arguments.common.gpu)}};
  std::printf("%s\n", header.dump().c_str());
  for (const BenchStack& bench : all_stacks()) {
    if (bench.name.find(arguments.only) == std::string::npos) continue;
    for (const int vector : arguments.common.vectors) bench_stack(bench, vector, arguments);
  }
  return 0;
}

void declare(CLI::App& app, Arguments& arguments) {
  add_gpu_bench_options(app, arguments.common);
  app.add_option("--family", arguments.families, "Kernel families, or measured for the fastest")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--stack", arguments.only, "Only stacks whose name contains this");
  app.add_option("--repeats", arguments.repeats, "Timed runs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::Arguments arguments;
  CLI::App app("Stacks of sparse linear layers on a GPU, as JSON lines", "gpu_stack_bench");
  winnow::declare(app, arguments);
  return winnow::gpu_bench_main(app, argc, argv, [&] { return winnow::run(arguments); });
}
