// Other libraries' convolutions beside cuDNN's and ours on one GPU, without bias and relu: JSON
// lines on stdout or in a file.
//
// Each line is the fastest kernel of a family, as gpu_conv_bench has it, or "refused" with the
// reason. What multiplies gathered columns leaves their gathering out, which has lines of its own
// (im2col). "accuracy_cost" is how far the outputs are from those of the layer's own weights in
// fp64: that of 8-bit numbers, or of keeping two of every four weights.
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/bench/conv_cases.h"
#include "runtime/bench/conv_lines.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/layer_bench.h"
#include "runtime/bench/layer_line.h"
#include "runtime/bench/rivals/rival.h"
#include "runtime/gpu/session/gpu_session.h"

namespace winnow {
namespace {

constexpr int kSamples = 256;  // outputs compared with fp64

struct Arguments {
  GpuBenchOptions common{.batches = {128}, .precisions = {"f16"}, .vectors = {}};
  std::string set = "rivals";
  std::string only;
  std::string out;
  double seconds = 0;  // 0: no limit
  LayerBenchOptions options{.repeats = 5};
};

using Lines = std::vector<nlohmann::ordered_json>;

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
        expected_(sample_outputs(setup_, kSamples)) {}

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
    const SampledOutputs expected = sample_outputs(setup, kSamples);
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

// Measures layers in one process.
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

  void run(const ConvLayer& layer, const std::vector<ConvMask>& masks, std::int64_t batch) {
    std::vector<ConvMask> wanted = masks;
    std::erase_if(wanted, [&](const ConvMask& mask) {
      return lines_.has({layer.name, batch, "f16", mask});
    });
    if (wanted.empty()) return;
    if (deadline_.is_over()) {
      left_ += wanted.size();
      return;
    }
    const SessionOptions session = bench_session(arguments_.common, batch, "f16");
    const DeployedModel first = conv_model(layer, wanted.front());
    const LayerSetup setup(first, session);
    DenseBench dense(setup, place_);
    for (const ConvMask& mask : wanted) {
      if (deadline_.is_over()) {
        ++left_;
        continue;
      }
      const DeployedModel model = conv_model(layer, mask);
      const ConvRun measured{layer.name, batch, "f16", mask};
      lines_.write(RivalRun(model, session, measured, place_, dense).lines());
    }
  }

  void finish() const { report_left("gpu_rival_bench", left_, arguments_.seconds); }

 private:
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
  for (BenchCase one : conv_cases(arguments.set)) {
    if (one.layer.is_pooled || one.layer.name.find(arguments.only) == std::string::npos) continue;
    one.layer.has_epilogue = false;
    one.masks.push_back({});  // random dense weights
    for (const std::int64_t batch : arguments.common.batches) {
      bench.run(one.layer, one.masks, batch);
    }
  }
  bench.finish();
  return 0;
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--batch", arguments.common.batches, "Batch sizes")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--gpu", arguments.common.gpu, "CUDA device number")->capture_default_str();
  app.add_option("--set", arguments.set, "Layers and masks; pooled layers are left out")
      ->check(CLI::IsMember({"rivals", "targets", "paper"}))
      ->capture_default_str();
  app.add_option("--layer", arguments.only, "Only layers whose name contains this");
  add_lines_options(app, arguments.out, arguments.seconds);
  app.add_option("--repeats", arguments.options.repeats, "Graphs timed per kernel")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::Arguments arguments;
  CLI::App app("Other libraries' convolutions on a GPU, as JSON lines", "gpu_rival_bench");
  winnow::declare(app, arguments);
  return winnow::gpu_bench_main(app, argc, argv, [&] { return winnow::run(arguments); });
}
