// Launches one kernel of one layer for a profiler: `ncu --profile-from-start off gpu_conv_profile
// ...` sees a single launch, after others that loaded its code and data.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/bench/conv_cases.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/layer_bench.h"

namespace winnow {
namespace {

struct Arguments {
  GpuBenchOptions common{.batches = {128}, .precisions = {"f16"}, .vectors = {16}};
  std::string set = "targets";
  std::string layer;
  double sparsity = 90;
  std::string family = "gathered";
  std::string kernel;
};

const BenchCase& case_named(const std::vector<BenchCase>& cases, const std::string& name) {
  const auto found =
      std::ranges::find(cases, name, [](const BenchCase& c) { return c.layer.name; });
  if (found == cases.end()) fail(ErrorCode::usage, "--layer: the set has no layer \"", name, "\"");
  return *found;
}

const LayerKernel& kernel_named(const std::vector<LayerKernel>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &LayerKernel::kernel);
  if (found == kernels.end()) fail(ErrorCode::usage, "--kernel: the layer has no \"", name, "\"");
  return *found;
}

int run(const Arguments& arguments) {
  const std::vector<BenchCase> cases = conv_cases(arguments.set);
  const BenchCase& layer = case_named(cases, arguments.layer);
  const ConvMask mask{RandomMask::independent, arguments.common.vectors.front(),
                      arguments.sparsity};
  const DeployedModel model = conv_model(layer.layer, mask);
  SessionOptions session = bench_session(arguments.common, arguments.common.batches.front(),
                                         arguments.common.precisions.front());
  session.all_tiles = true;
  LayerSetup setup(model, session);
  GpuContext gpu(arguments.common.gpu);
  const SmClock clock(arguments.common.gpu);
  const auto kernels = setup.kernels(arguments.family, gpu);
  KernelBench(setup, {gpu, clock}).launch_for_profiler(kernel_named(kernels, arguments.kernel));
  return 0;
}

void declare(CLI::App& app, Arguments& arguments) {
  add_gpu_bench_options(app, arguments.common);
  app.add_option("--set", arguments.set, "Layers")
      ->check(CLI::IsMember(conv_case_sets()))
      ->capture_default_str();
  app.add_option("--layer", arguments.layer, "The layer's name")->required();
  app.add_option("--sparsity", arguments.sparsity, "Percent of weights that are zero")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  app.add_option("--family", arguments.family, "Sparse kernel family")
      ->check(CLI::IsMember({"direct", "direct_ell", "gathered"}))
      ->capture_default_str();
  app.add_option("--kernel", arguments.kernel, "The kernel, as gpu_conv_bench names it")
      ->required();
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::Arguments arguments;
  CLI::App app("One kernel of one convolution, for a profiler", "gpu_conv_profile");
  winnow::declare(app, arguments);
  return winnow::gpu_bench_main(app, argc, argv, [&] { return winnow::run(arguments); });
}
