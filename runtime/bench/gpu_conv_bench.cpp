// Direct sparse convolution against cuDNN on one GPU, layer by layer: JSON lines on stdout.
//
// Each line is the fastest kernel of a family on one layer, of `kernels` that were timed: time of
// one launch (median over CUDA graphs of `launches` launches), spread, and error against fp64 on a
// sample. Dense kernels see the same weights with their zeros. Independent masks run with bounds
// for every row (direct) and with rows padded to equal length (direct_ell), balanced ones need
// neither. With f16 all run on tensor cores too (gathered).
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/layer_bench.h"
#include "runtime/bench/random_weight.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/plan/block_csr.h"

namespace winnow {
namespace {

struct BenchLayer {
  std::string name;
  std::int64_t height = 1;
  std::int64_t width = 1;
  Conv conv;
};

BenchLayer layer(const std::string& group, std::int64_t in, std::int64_t side, std::int64_t out,
                 std::int64_t kernel) {
  Conv conv;
  conv.in_channels = in;
  conv.out_channels = out;
  conv.kernel = {kernel, kernel};
  conv.padding = {kernel / 2, kernel / 2};
  const std::string name = group + " " + std::to_string(kernel) + "x" + std::to_string(kernel) +
                           " " + std::to_string(in) + "x" + std::to_string(side) + "x" +
                           std::to_string(side) + "->" + std::to_string(out);
  return {name, side, side, conv};
}

BenchLayer text_layer(std::int64_t kernel) {
  Conv conv;
  conv.rank = 1;
  conv.in_channels = 300;
  conv.out_channels = 100;
  conv.kernel = {1, kernel};
  return {"text k=" + std::to_string(kernel) + " 300x64->100", 1, 64, conv};
}

std::vector<BenchLayer> all_layers() {
  std::vector<BenchLayer> layers;
  const std::int64_t vgg[][3] = {{3, 224, 64},    {64, 224, 64},  {64, 112, 128},
                                 {128, 112, 128}, {128, 56, 256}, {256, 56, 256},
                                 {256, 28, 512},  {512, 28, 512}, {512, 14, 512}};
  for (const auto& [in, side, out] : vgg) layers.push_back(layer("vgg224", in, side, out, 3));
  const std::int64_t cifar[][3] = {{3, 32, 64},   {64, 32, 64},  {128, 16, 128},
                                   {256, 8, 256}, {512, 4, 512}, {512, 2, 512}};
  for (const auto& [in, side, out] : cifar) layers.push_back(layer("cifar", in, side, out, 3));
  // Of ResNet50, DenseNet121 and DenseNet161.
  const std::int64_t points[][3] = {{64, 56, 256}, {256, 56, 64}, {992, 14, 128}, {2160, 7, 192}};
  for (const auto& [in, side, out] : points) layers.push_back(layer("point", in, side, out, 1));
  layers.push_back(text_layer(2));
  layers.push_back(text_layer(3));
  return layers;
}

// How the mask of a layer is drawn.
struct BenchMask {
  RandomMask kind = RandomMask::independent;
  int vector = 1;
  double sparsity_percent = 0;
};

DeployedModel model_of(const BenchLayer& bench, const BenchMask& mask) {
  const Conv& conv = bench.conv;
  DeployedModel model;
  Shape input = {conv.in_channels, bench.height, bench.width};
  if (conv.rank == 1) input = {conv.in_channels, bench.width};
  model.graph = {
      "bench",
      {{"input", Input{input, false}, {}}, {"conv", conv, {"input"}}, {"relu", Relu{}, {"conv"}}}};
  const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  model.weights["conv.weight"] = random_weight({conv.out_channels, cols, mask.vector},
                                               mask.sparsity_percent / 100, mask.kind, 1);
  const std::vector<float> bias(static_cast<std::size_t>(conv.out_channels), 0.125f);
  model.weights["conv.bias"] = DenseWeight{{conv.out_channels}, encode_f32(bias)};
  return model;
}

struct Arguments {
  GpuBenchOptions common{.batches = {1, 128}, .vectors = {1, 16}};
  std::vector<double> sparsities = {90, 95, 97, 99};
  std::vector<RandomMask> masks = {RandomMask::independent, RandomMask::balanced};
  std::vector<std::string> families = {"direct", "direct_ell", "gathered"};
  std::string only;
  int sub_batch = 0;
  bool all_kernels = false;
  bool all_tiles = false;
  LayerBenchOptions options;
};

// What was measured: the same for all kernels of a line.
struct Case {
  const BenchLayer& bench;
  const SessionOptions& session;
  BenchMask mask = {};
  double pads_per_block = 0;
  double dense_ms = 0;  // 0 for the dense kernels themselves
};

void print(const Case& measured, const LayerBenchRow& row, std::size_t kernels) {
  const auto& [bench, session, mask, pads, dense_ms] = measured;
  nlohmann::ordered_json line;
  line["layer"] = bench.name;
  line["batch"] = session.batch;
  line["precision"] = math_name(session.precision, session.use_tf32);
  line["family"] = row.family;
  line["kernel"] = row.kernel;
  if (row.family != "dense") {
    line["masks"] = mask.kind == RandomMask::balanced ? "balanced" : "independent";
    line["vector"] = mask.vector;
    line["sparsity_percent"] = mask.sparsity_percent;
    line["pads_per_block"] = pads;
    if (dense_ms > 0) line["speed_up_over_dense"] = dense_ms / row.median_ms;
  }
  line["kernels"] = kernels;
  line["launches"] = row.launches;
  if (session.all_tiles && row.clocks > 0) line["predicted_clocks"] = row.clocks;
  line["ms"] = row.median_ms;
  line["spread"] = row.spread;
  line["error"] = row.error;
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// Prints all rows or the fastest, and returns its time; 0 if there are none.
double print_fastest(const Case& measured, const std::vector<LayerBenchRow>& rows,
                     bool all_kernels) {
  if (rows.empty()) return 0;
  const LayerBenchRow& best = *std::ranges::min_element(rows, {}, &LayerBenchRow::median_ms);
  for (const LayerBenchRow& row : rows) {
    const bool is_tile = measured.session.all_tiles && row.clocks > 0;
    if (all_kernels || is_tile || &row == &best) print(measured, row, rows.size());
  }
  return best.median_ms;
}

std::vector<BenchMask> masks_of(const Arguments& arguments) {
  std::vector<BenchMask> masks;
  for (const RandomMask kind : arguments.masks) {
    for (const int vector : arguments.common.vectors) {
      for (const double sparsity : arguments.sparsities) masks.push_back({kind, vector, sparsity});
    }
  }
  return masks;
}

// The dense kernels' times depend on the weights' values hardly at all, so they run once per layer.
void bench_one(const BenchLayer& bench, const SessionOptions& session, const Arguments& arguments) {
  LayerBenchOptions options = arguments.options;
  options.families = {"dense"};
  const DeployedModel first = model_of(bench, masks_of(arguments).front());
  const double dense_ms =
      print_fastest({bench, session}, bench_layer(first, session, options), arguments.all_kernels);
  for (const BenchMask& mask : masks_of(arguments)) {
    const DeployedModel model = model_of(bench, mask);
    const double pads = pads_per_block(std::get<CsrWeight>(model.weights.at("conv.weight")));
    for (const std::string& family : arguments.families) {
      if (pads == 0 && family == "direct_ell") continue;  // the same kernel
      if (session.precision != Precision::f16 && family == "gathered") continue;
      options.families = {family};
      print_fastest({bench, session, mask, pads, dense_ms}, bench_layer(model, session, options),
                    arguments.all_kernels);
    }
  }
}

int run(const Arguments& arguments) {
  nlohmann::ordered_json header;
  header["gpu"] = gpu_description(arguments.common.gpu);
  header["graphs"] = arguments.options.repeats;
  std::printf("%s\n", header.dump().c_str());
  for (const BenchLayer& bench : all_layers()) {
    if (bench.name.find(arguments.only) == std::string::npos) continue;
    for (const std::string& precision : arguments.common.precisions) {
      for (const std::int64_t batch : arguments.common.batches) {
        SessionOptions session = bench_session(arguments.common, batch, precision);
        session.sub_batch = arguments.sub_batch;
        session.all_tiles = arguments.all_tiles;
        bench_one(bench, session, arguments);
      }
    }
  }
  return 0;
}

void declare(CLI::App& app, Arguments& arguments) {
  add_gpu_bench_options(app, arguments.common);
  app.add_option("--sparsity", arguments.sparsities, "Percent of weights that are zero")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--masks", arguments.masks, "independent (rows of any length), balanced")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(std::map<std::string, RandomMask>{
          {"independent", RandomMask::independent}, {"balanced", RandomMask::balanced}}));
  app.add_option("--families", arguments.families, "Sparse kernel families beside the dense ones")
      ->delimiter(',')
      ->check(CLI::IsMember({"direct", "direct_ell", "gathered"}))
      ->capture_default_str();
  app.add_option("--layer", arguments.only, "Only layers whose name contains this");
  app.add_option("--sub-batch", arguments.sub_batch, "Images per thread; 0 times 1, 2, 4 and 8")
      ->capture_default_str();
  app.add_flag("--all-kernels", arguments.all_kernels, "A line for every kernel that was timed");
  app.add_flag("--all-tiles", arguments.all_tiles,
               "Time every tile of gathered, not the best by its model, and print a line for each");
  app.add_option("--repeats", arguments.options.repeats, "Graphs timed per kernel")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::Arguments arguments;
  CLI::App app("Direct sparse convolution against cuDNN, layer by layer, as JSON lines",
               "gpu_conv_bench");
  winnow::declare(app, arguments);
  return winnow::gpu_bench_main(app, argc, argv, [&] { return winnow::run(arguments); });
}
