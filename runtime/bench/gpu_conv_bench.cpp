// Sparse convolution against cuDNN on one GPU, layer by layer: JSON lines on stdout or in a file.
//
// Each line is the fastest kernel of a family on one layer, of `kernels` that were timed: time of
// one launch (median over CUDA graphs of `launches` launches), spread, clock of the SMs, and error
// against fp64 on a sample; or "refused" with the reason. Dense kernels are timed on the very
// weights of each mask, with their zeros, and once on random dense weights (sparsity 0), which draw
// more power. Independent masks run with bounds for every row (direct) and with rows padded to
// equal length (direct_ell), balanced ones need neither. With f16 all run on tensor cores too
// (gathered).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/bench/conv_cases.h"
#include "runtime/bench/conv_survey.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/layer_line.h"
#include "runtime/plan/block_csr.h"

namespace winnow {
namespace {

constexpr ConvMask kDenseWeights = {};  // sparsity 0

struct Arguments {
  GpuBenchOptions common{.batches = {1, 128}, .vectors = {1, 16}};
  std::vector<double> sparsities = {90, 95, 97, 99};
  std::vector<RandomMask> masks = {RandomMask::independent, RandomMask::balanced};
  bool has_masks = false;  // asked for: instead of those of the set
  std::vector<std::string> families = {"direct", "direct_ell", "gathered"};
  std::string only;
  std::vector<int> sub_batches = {0};
  bool all_kernels = false;
  bool all_tiles = false;
  ConvSurveyOptions survey{.set = "layers"};
};

using Lines = ConvSurvey::Lines;

std::vector<ConvMask> asked_masks(const Arguments& arguments) {
  std::vector<ConvMask> masks;
  for (const RandomMask kind : arguments.masks) {
    for (const int vector : arguments.common.vectors) {
      for (const double sparsity : arguments.sparsities) masks.push_back({kind, vector, sparsity});
    }
  }
  return masks;
}

// Measures all families on one layer with one mask.
class MaskBench {
 public:
  MaskBench(const Arguments& arguments, const BenchPlace& place, const ConvGroup& group,
            const ConvMask& mask)
      : arguments_(arguments),
        place_(place),
        group_(group),
        mask_(mask),
        model_(conv_model(group.layer, mask)) {}

  Lines lines(DenseBench& dense) {
    const LayerSetup setup(model_, group_.session);
    const SampledOutputs expected = sample_outputs(setup, kBenchSamples);
    const LayerBenchRow row = dense.measure(setup, expected);
    lines_ = {measured_line(line_of(group_.run_of(mask_)), row, dense.kernels())};
    if (mask_.sparsity_percent > 0) {
      for (const std::string& family : arguments_.families) {
        if (family != "none") append_family(family, {expected, row.median_ms});
      }
    }
    return std::move(lines_);
  }

 private:
  struct Beside {
    const SampledOutputs& expected;
    double dense_ms;
  };

  void append_family(const std::string& family, const Beside& beside) {
    const double pads = pads_per_block(std::get<CsrWeight>(model_.weights.at("conv.weight")));
    if (pads == 0 && family == "direct_ell") return;  // the same kernel
    const bool is_gathered = family == "gathered";
    if (group_.session.precision != Precision::f16 && is_gathered) return;
    for (const int sub_batch : is_gathered ? std::vector<int>{0} : arguments_.sub_batches) {
      SessionOptions session = group_.session;
      session.sub_batch = sub_batch;
      nlohmann::ordered_json line = line_of(group_.run_of(mask_));
      line["pads_per_block"] = pads;
      if (sub_batch > 0) line["sub_batch"] = sub_batch;
      LayerSetup setup(model_, session);
      const std::string refused = setup.why_not(family, place_.gpu);
      if (!refused.empty()) {
        lines_.push_back(refused_line(line, family, refused));
        continue;
      }
      const auto rows = bench_family(family, setup, beside.expected, place_);
      if (!rows.empty()) append_rows(line, rows, beside.dense_ms);
    }
  }

  // All rows or the fastest.
  void append_rows(const nlohmann::ordered_json& line, const std::vector<LayerBenchRow>& rows,
                   double dense_ms) {
    const auto best = std::ranges::min_element(rows, {}, &LayerBenchRow::median_ms);
    for (const LayerBenchRow& row : rows) {
      const bool is_tile = arguments_.all_tiles && row.clocks > 0;
      if (!arguments_.all_kernels && !is_tile && &row != &*best) continue;
      lines_.push_back(measured_line(line, row, rows.size()));
      lines_.back()["speed_up_over_dense"] = dense_ms / row.median_ms;
    }
  }

  const Arguments& arguments_;
  const BenchPlace& place_;
  const ConvGroup& group_;
  ConvMask mask_;
  DeployedModel model_;
  Lines lines_;
};

int run(const Arguments& arguments) {
  ConvSurvey survey(arguments.survey);
  const auto measure = [&](const ConvGroup& group, const ConvMask& mask, DenseBench& dense) {
    return MaskBench(arguments, survey.place(), group, mask).lines(dense);
  };
  for (const BenchCase& layer : conv_cases(arguments.survey.set)) {
    if (layer.layer.name.find(arguments.only) == std::string::npos) continue;
    const bool is_asked = layer.masks.empty() || arguments.has_masks;
    std::vector<ConvMask> masks = is_asked ? asked_masks(arguments) : layer.masks;
    masks.push_back(kDenseWeights);
    for (const std::string& precision : arguments.common.precisions) {
      for (const std::int64_t batch : arguments.common.batches) {
        SessionOptions session = bench_session(arguments.common, batch, precision);
        session.all_tiles = arguments.all_tiles;
        survey.run({layer.layer, masks, session}, measure);
      }
    }
  }
  survey.finish("gpu_conv_bench");
  return 0;
}

// Options that say which masks there are.
void declare_masks(CLI::App& app, Arguments& arguments) {
  app.add_option("--sparsity", arguments.sparsities, "Percent of weights that are zero")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  app.add_option("--masks", arguments.masks, "independent (rows of any length), balanced")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(std::map<std::string, RandomMask>{
          {"independent", RandomMask::independent}, {"balanced", RandomMask::balanced}}));
}

void declare_kernels(CLI::App& app, Arguments& arguments) {
  app.add_option("--families", arguments.families,
                 "Sparse kernel families beside the dense kernels, or none")
      ->delimiter(',')
      ->check(CLI::IsMember({"direct", "direct_ell", "gathered", "none"}))
      ->capture_default_str();
  app.add_option("--sub-batch", arguments.sub_batches,
                 "Images per thread of direct, a line for each; 0 is the fastest of 1, 2, 4 and 8")
      ->delimiter(',')
      ->check(CLI::IsMember({0, 1, 2, 4, 8}))
      ->capture_default_str();
  app.add_flag("--all-kernels", arguments.all_kernels,
               "A line for every sparse kernel that was timed");
  app.add_flag("--all-tiles", arguments.all_tiles,
               "Time every tile of gathered, not the best by its model, and print a line for each");
}

void declare(CLI::App& app, Arguments& arguments) {
  add_gpu_bench_options(app, arguments.common);
  app.add_option("--set", arguments.survey.set,
                 "Layers, with masks of their own unless --sparsity, --vector or --masks is given")
      ->check(CLI::IsMember(conv_case_sets()))
      ->capture_default_str();
  declare_masks(app, arguments);
  declare_kernels(app, arguments);
  app.add_option("--layer", arguments.only, "Only layers whose name contains this");
  add_lines_options(app, arguments.survey.out, arguments.survey.seconds);
  app.add_option("--repeats", arguments.survey.bench.repeats, "Graphs timed per kernel")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--dense-kernels", arguments.survey.bench.dense_kernels,
                 "How many dense kernels are timed in full, the fastest in a short trial of all")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::Arguments arguments;
  CLI::App app("Sparse convolution against cuDNN, layer by layer, as JSON lines", "gpu_conv_bench");
  winnow::declare(app, arguments);
  return winnow::gpu_bench_main(app, argc, argv, [&] {
    arguments.has_masks =
        app.count("--sparsity") + app.count("--vector") + app.count("--masks") > 0;
    arguments.survey.gpu = arguments.common.gpu;
    return winnow::run(arguments);
  });
}
