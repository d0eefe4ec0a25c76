// Sparse convolution against cuDNN on one GPU, layer by layer: JSON lines on stdout or in a file.
//
// Each line is the fastest kernel of a family on one layer, of `kernels` that were timed: time of
// one launch (median over CUDA graphs of `launches` launches), spread, clock of the SMs, and error
// against fp64 on a sample; or "refused" with the reason. Dense kernels are timed on the very
// weights of each mask, with their zeros, and once on random dense weights (sparsity 0), which draw
// more power. Independent masks run with bounds for every row (direct) and with rows padded to
// equal length (direct_ell), balanced ones need neither. With f16 all run on tensor cores too
// (gathered).
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/bench/conv_cases.h"
#include "runtime/bench/conv_lines.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/layer_bench.h"
#include "runtime/bench/layer_line.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/plan/block_csr.h"

namespace winnow {
namespace {

constexpr int kSamples = 256;           // outputs compared with fp64
constexpr ConvMask kDenseWeights = {};  // sparsity 0

struct Arguments {
  GpuBenchOptions common{.batches = {1, 128}, .vectors = {1, 16}};
  std::string set = "layers";
  std::vector<double> sparsities = {90, 95, 97, 99};
  std::vector<RandomMask> masks = {RandomMask::independent, RandomMask::balanced};
  bool has_masks = false;  // asked for: instead of those of the set
  std::vector<std::string> families = {"direct", "direct_ell", "gathered"};
  std::string only;
  std::vector<int> sub_batches = {0};
  bool all_kernels = false;
  bool all_tiles = false;
  std::string out;
  double seconds = 0;  // 0: no limit
  LayerBenchOptions options;
};

// A layer at one batch size and precision.
struct Group {
  const BenchCase& bench;
  std::vector<ConvMask> masks;
  SessionOptions session;

  ConvRun run_of(const ConvMask& mask) const {
    return {bench.layer.name, session.batch, math_name(session.precision, session.use_tf32), mask};
  }
};

using Lines = std::vector<nlohmann::ordered_json>;

std::vector<ConvMask> asked_masks(const Arguments& arguments) {
  std::vector<ConvMask> masks;
  for (const RandomMask kind : arguments.masks) {
    for (const int vector : arguments.common.vectors) {
      for (const double sparsity : arguments.sparsities) masks.push_back({kind, vector, sparsity});
    }
  }
  return masks;
}

// Measures the groups of one process: its GPU, clock and options.
class Bench {
 public:
  explicit Bench(const Arguments& arguments)
      : arguments_(arguments),
        gpu_(arguments.common.gpu),
        clock_(arguments.common.gpu),
        place_{gpu_, clock_, arguments.options},
        lines_(arguments.out),
        deadline_(arguments.seconds) {
    nlohmann::ordered_json header;
    header["gpu"] = gpu_description(arguments.common.gpu);
    header["set"] = arguments.set;
    header["graphs"] = arguments.options.repeats;
    lines_.write({std::move(header)});
  }

  void run(const Group& group) {
    std::vector<ConvMask> masks = group.masks;
    masks.push_back(kDenseWeights);
    std::erase_if(masks, [&](const ConvMask& mask) { return lines_.has(group.run_of(mask)); });
    if (masks.empty()) return;
    if (deadline_.is_over()) {
      left_ += masks.size();
      return;
    }
    const DeployedModel first = conv_model(group.bench.layer, masks.front());
    const LayerSetup setup(first, group.session);
    DenseBench dense(setup, place_);
    for (const ConvMask& mask : masks) {
      if (deadline_.is_over()) {
        ++left_;
      } else {
        run_mask(group, mask, dense);
      }
    }
  }

  // Says how many masks of layers the time was too short for.
  void finish() const { report_left("gpu_conv_bench", left_, arguments_.seconds); }

 private:
  void run_mask(const Group& group, const ConvMask& mask, DenseBench& dense) {
    const DeployedModel model = conv_model(group.bench.layer, mask);
    const LayerSetup setup(model, group.session);
    const SampledOutputs expected = sample_outputs(setup, kSamples);
    const LayerBenchRow dense_row = dense.measure(setup, expected);
    Lines lines = {measured_line(line_of(group.run_of(mask)), dense_row, dense.kernels())};
    if (mask.sparsity_percent > 0) {
      for (const std::string& family : arguments_.families) {
        if (family == "none") continue;
        append_family(group, mask, model, family, {expected, dense_row.median_ms}, lines);
      }
    }
    lines_.write(lines);
  }

  struct Beside {
    const SampledOutputs& expected;
    double dense_ms;
  };

  void append_family(const Group& group, const ConvMask& mask, const DeployedModel& model,
                     const std::string& family, const Beside& beside, Lines& lines) {
    const double pads = pads_per_block(std::get<CsrWeight>(model.weights.at("conv.weight")));
    if (pads == 0 && family == "direct_ell") return;  // the same kernel
    const bool is_gathered = family == "gathered";
    if (group.session.precision != Precision::f16 && is_gathered) return;
    for (const int sub_batch : is_gathered ? std::vector<int>{0} : arguments_.sub_batches) {
      SessionOptions session = group.session;
      session.sub_batch = sub_batch;
      nlohmann::ordered_json line = line_of(group.run_of(mask));
      line["pads_per_block"] = pads;
      if (sub_batch > 0) line["sub_batch"] = sub_batch;
      LayerSetup setup(model, session);
      const std::string refused = setup.why_not(family, gpu_);
      if (!refused.empty()) {
        lines.push_back(refused_line(line, family, refused));
        continue;
      }
      const auto rows = bench_family(family, setup, beside.expected, place_);
      if (!rows.empty()) append_rows(line, rows, beside.dense_ms, lines);
    }
  }

  // All rows or the fastest.
  void append_rows(const nlohmann::ordered_json& line, const std::vector<LayerBenchRow>& rows,
                   double dense_ms, Lines& lines) const {
    const auto best = std::ranges::min_element(rows, {}, &LayerBenchRow::median_ms);
    for (const LayerBenchRow& row : rows) {
      const bool is_tile = arguments_.all_tiles && row.clocks > 0;
      if (!arguments_.all_kernels && !is_tile && &row != &*best) continue;
      lines.push_back(measured_line(line, row, rows.size()));
      lines.back()["speed_up_over_dense"] = dense_ms / row.median_ms;
    }
  }

  const Arguments& arguments_;
  GpuContext gpu_;
  SmClock clock_;
  BenchPlace place_;
  ConvLines lines_;
  Deadline deadline_;
  std::size_t left_ = 0;
};

int run(const Arguments& arguments) {
  Bench bench(arguments);
  for (const BenchCase& layer : conv_cases(arguments.set)) {
    if (layer.layer.name.find(arguments.only) == std::string::npos) continue;
    const bool is_asked = layer.masks.empty() || arguments.has_masks;
    for (const std::string& precision : arguments.common.precisions) {
      for (const std::int64_t batch : arguments.common.batches) {
        SessionOptions session = bench_session(arguments.common, batch, precision);
        session.all_tiles = arguments.all_tiles;
        bench.run({layer, is_asked ? asked_masks(arguments) : layer.masks, session});
      }
    }
  }
  bench.finish();
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
  app.add_option("--set", arguments.set,
                 "Layers, with masks of their own unless --sparsity, --vector or --masks is given")
      ->check(CLI::IsMember(conv_case_sets()))
      ->capture_default_str();
  declare_masks(app, arguments);
  declare_kernels(app, arguments);
  app.add_option("--layer", arguments.only, "Only layers whose name contains this");
  add_lines_options(app, arguments.out, arguments.seconds);
  app.add_option("--repeats", arguments.options.repeats, "Graphs timed per kernel")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--dense-kernels", arguments.options.dense_kernels,
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
    return winnow::run(arguments);
  });
}
