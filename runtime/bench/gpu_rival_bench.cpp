// Other libraries' convolutions beside cuDNN's and ours on one GPU, without bias and relu: JSON
// lines on stdout or in a file.
//
// Each line is the fastest kernel of a family, as gpu_conv_bench has it, or "refused" with the
// reason. What multiplies gathered columns leaves their gathering out, which has lines of its own
// (im2col). "accuracy_cost" is how far the outputs are from those of the layer's own weights in
// fp64: that of 8-bit numbers, or of keeping two of every four weights.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/bench/conv_cases.h"
#include "runtime/bench/conv_survey.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/layer_line.h"
#include "runtime/bench/rivals/rival.h"

namespace winnow {
namespace {

struct Arguments {
  GpuBenchOptions common{.batches = {128}, .precisions = {"f16"}, .vectors = {}};
  std::string only;
  ConvSurveyOptions survey{.set = "rivals", .bench = {.repeats = 5}};
};

using Lines = ConvSurvey::Lines;

// One layer with one mask: its rivals write lines one after the other.
class RivalRun {
 public:
  RivalRun(const DeployedModel& model, const SessionOptions& session, const ConvRun& run,
           const BenchPlace& place, DenseBench& dense)
      : model_(model),
        setup_(model, session),
        session_(session),
        run_(run),
        place_(place),
        dense_(dense),
        problem_(rival_problem(setup_)),
        expected_(sample_outputs(setup_, kBenchSamples)) {}

  Lines lines() {
    add_ours();
    {
      const auto by_pixel = std::make_shared<Columns>(problem_.shape, ColumnOrder::by_pixel);
      add_dense(by_pixel);
      if (is_sparse()) {
        add("cusparse by pixel", [&] { return cusparse_rivals(problem_, by_pixel, place_.gpu); });
      } else {
        add_two_of_four(by_pixel);
      }
    }
    if (is_sparse()) add_by_column();
    return std::move(lines_);
  }

 private:
  using Make = std::function<std::vector<LayerKernel>()>;

  bool is_sparse() const { return run_.mask.sparsity_percent > 0; }

  void add_ours() {
    add_row(dense_.measure(setup_, expected_), dense_.kernels());
    if (!is_sparse()) return;
    const std::string refused = setup_.why_not("gathered", place_.gpu);
    if (!refused.empty()) {
      lines_.push_back(refused_line(line_of(run_), "gathered", refused));
      return;
    }
    const auto rows = bench_family("gathered", setup_, expected_, place_);
    add_row(*std::ranges::min_element(rows, {}, &LayerBenchRow::median_ms), rows.size());
  }

  void add_dense(const std::shared_ptr<Columns>& by_pixel) {
    add("cublaslt f16", [&] { return cublaslt_rivals(problem_, by_pixel, place_.gpu); });
    add("cublaslt fp8",
        [&] { return narrow_rivals(problem_, Narrow::e4m3, by_pixel, place_.gpu); });
    add("cublaslt int8",
        [&] { return narrow_rivals(problem_, Narrow::int8, by_pixel, place_.gpu); });
    add("cudnn int8", [&] { return cudnn_int8_rivals(problem_, place_.gpu); });
    for (const int bytes : {2, 1}) add_gathering(ColumnOrder::by_pixel, bytes);
  }

  void add_by_column() {
    const auto by_column = std::make_shared<Columns>(problem_.shape, ColumnOrder::by_column);
    add("cusparse by column", [&] { return cusparse_rivals(problem_, by_column, place_.gpu); });
    add_gathering(ColumnOrder::by_column, 2);
  }

  void add_two_of_four(const std::shared_ptr<Columns>& by_pixel) {
    RivalProblem halved = problem_;
    halved.weight = two_of_four(problem_.shape, problem_.weight);
    const Conv& conv = problem_.shape.conv;
    DeployedModel model = model_;
    model.weights["conv.weight"] =
        DenseWeight{{conv.out_channels, conv.in_channels, conv.kernel[0], conv.kernel[1]},
                    encode_f32(halved.weight)};
    const LayerSetup setup(model, session_);
    const SampledOutputs expected = sample_outputs(setup, kBenchSamples);
    const std::vector<float> found(expected.values.begin(), expected.values.end());
    const double cost = relative_error(found, expected_.values);
    add(
        "cusparselt 2:4", [&] { return cusparselt_rivals(halved, by_pixel, place_.gpu); }, expected,
        cost);
  }

  void add_gathering(ColumnOrder order, int bytes) {
    const auto make = [&] { return std::vector{gathering(problem_.shape, order, bytes)}; };
    add(gathering_name(order, bytes), make, {}, 0);
  }

  void add(const std::string& family, const Make& make) { add(family, make, expected_, -1); }

  // The fastest of a family's kernels that run; a negative `cost` is the error itself.
  void add(const std::string& family, const Make& make, const SampledOutputs& expected,
           double cost) {
    std::vector<LayerBenchRow> rows;
    std::string refused;
    try {
      KernelBench bench(setup_, place_);
      for (const LayerKernel& kernel : make()) {
        try {
          rows.push_back(bench.measure(kernel, expected));
        } catch (const Error& error) {
          refused = error.what();
          place_.gpu.synchronize();
        }
      }
    } catch (const Error& error) {
      refused = error.what();
    }
    if (rows.empty()) {
      lines_.push_back(refused_line(line_of(run_), family, refused));
      return;
    }
    const auto& best = *std::ranges::min_element(rows, {}, &LayerBenchRow::median_ms);
    add_row(best, rows.size());
    if (!expected.positions.empty()) lines_.back()["accuracy_cost"] = cost < 0 ? best.error : cost;
  }

  void add_row(const LayerBenchRow& row, std::size_t kernels) {
    lines_.push_back(measured_line(line_of(run_), row, kernels));
  }

  const DeployedModel& model_;
  LayerSetup setup_;
  SessionOptions session_;
  ConvRun run_;
  const BenchPlace& place_;
  DenseBench& dense_;
  RivalProblem problem_;
  SampledOutputs expected_;
  Lines lines_;
};

int run(const Arguments& arguments) {
  ConvSurvey survey(arguments.survey);
  const auto measure = [&](const ConvGroup& group, const ConvMask& mask, DenseBench& dense) {
    const DeployedModel model = conv_model(group.layer, mask);
    return RivalRun(model, group.session, group.run_of(mask), survey.place(), dense).lines();
  };
  for (BenchCase one : conv_cases(arguments.survey.set)) {
    if (one.layer.is_pooled || one.layer.name.find(arguments.only) == std::string::npos) continue;
    one.layer.has_epilogue = false;
    one.masks.push_back({});  // random dense weights
    for (const std::int64_t batch : arguments.common.batches) {
      survey.run({one.layer, one.masks, bench_session(arguments.common, batch, "f16")}, measure);
    }
  }
  survey.finish("gpu_rival_bench");
  return 0;
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--batch", arguments.common.batches, "Batch sizes")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--gpu", arguments.common.gpu, "CUDA device number")->capture_default_str();
  app.add_option("--set", arguments.survey.set, "Layers and masks; pooled layers are left out")
      ->check(CLI::IsMember({"rivals", "targets", "paper"}))
      ->capture_default_str();
  app.add_option("--layer", arguments.only, "Only layers whose name contains this");
  add_lines_options(app, arguments.survey.out, arguments.survey.seconds);
  app.add_option("--repeats", arguments.survey.bench.repeats, "Graphs timed per kernel")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::Arguments arguments;
  CLI::App app("Other libraries' convolutions on a GPU, as JSON lines", "gpu_rival_bench");
  winnow::declare(app, arguments);
  return winnow::gpu_bench_main(app, argc, argv, [&] {
    arguments.survey.gpu = arguments.common.gpu;
    return winnow::run(arguments);
  });
}
