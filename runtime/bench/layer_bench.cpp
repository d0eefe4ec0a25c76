#include "runtime/bench/layer_bench.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "runtime/base/median.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/layer/family_list.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/noise.h"
#include "runtime/gpu/session/network_plan.h"

namespace winnow {
namespace {

constexpr std::uint32_t kSeed = 99;
constexpr double kGraphMs = 2;

// One output of the convolution in fp64, from the noise that every kernel reads.
class Oracle {
 public:
  explicit Oracle(const LayerProblem& problem)
      : conv_(std::get<Conv>(problem.step.op)),
        has_relu_(problem.step.has_relu),
        is_half_(problem.options.precision == Precision::f16),
        in_(problem.input_size(0)),
        out_(problem.output_size()),
        weight_(dense_floats(problem.weights().weight)),
        bias_(bias_or_zeros(problem.weights().bias, conv_.out_channels)) {}

  std::int64_t count() const { return out_.n * out_.c * out_.h * out_.w; }

  double at(std::int64_t index) const {
    const std::int64_t x = index % out_.w;
    const std::int64_t y = index / out_.w % out_.h;
    const std::int64_t k = index / out_.w / out_.h % out_.c;
    const std::int64_t n = index / out_.w / out_.h / out_.c;
    const std::int64_t per_group = conv_.in_channels / conv_.groups;
    const std::int64_t first = k / (conv_.out_channels / conv_.groups) * per_group;
    double sum = bias_[static_cast<std::size_t>(k)];
    for (std::int64_t c = 0; c < per_group; ++c) {
      for (std::int64_t r = 0; r < conv_.kernel[0]; ++r) {
        for (std::int64_t s = 0; s < conv_.kernel[1]; ++s) {
          const std::int64_t w = ((k * per_group + c) * conv_.kernel[0] + r) * conv_.kernel[1] + s;
          sum += static_cast<double>(weight_[static_cast<std::size_t>(w)]) *
                 input(n, first + c, y * conv_.stride[0] - conv_.padding[0] + r * conv_.dilation[0],
                       x * conv_.stride[1] - conv_.padding[1] + s * conv_.dilation[1]);
        }
      }
    }
    return has_relu_ ? std::max(sum, 0.0) : sum;
  }

 private:
  double input(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    if (y < 0 || y >= in_.h || x < 0 || x >= in_.w) return 0;
    const std::int64_t i = ((n * in_.c + c) * in_.h + y) * in_.w + x;
    const float value = noise_value(static_cast<std::uint32_t>(i), kSeed);
    return is_half_ ? to_float(to_half(value)) : value;
  }

  Conv conv_;
  bool has_relu_, is_half_;
  Extents in_, out_;
  std::vector<float> weight_, bias_;
};

// One layer's memory and measurements.
class LayerBench {
 public:
  LayerBench(const LayerProblem& problem, const OrderTables& orders,
             const LayerBenchOptions& options, GpuContext& gpu)
      : problem_(problem), orders_(orders), options_(options), gpu_(gpu), oracle_(problem) {
    const ActivationFormat noise_format = row_major(Precision::f32);
    const Extents size = problem.input_size(0);
    noise_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(bytes_of(noise_format, size)));
    fill_noise(noise_.get(), strides_of(noise_format, size).total, Precision::f32, kSeed,
               gpu.stream());
    const std::int64_t step =
        std::max<std::int64_t>(1, oracle_.count() / std::max(options.samples, 1));
    for (std::int64_t i = step / 2; i < oracle_.count() && options.samples > 0; i += step) {
      sampled_.push_back(i);
      expected_.push_back(oracle_.at(i));
    }
  }

  // False if a library refuses the kernel.
  bool measure(const Candidate& candidate, LayerBenchRow& row) {
    prepare(candidate);
    const ActivationView out = orders_.view(
        output_.get(), problem_.output_formats[candidate.writes], problem_.output_size());
    const ActivationView in = orders_.view(
        input_.get(), problem_.input_formats[0][candidate.reads[0]], problem_.input_size(0));
    const auto launch = [&] {
      candidate.layer->launch(std::span(&in, 1), out, {workspace_.get(), workspace_.bytes()},
                              gpu_.stream());
    };
    row.family = candidate.family;
    row.kernel = candidate.kernel;
    row.clocks = candidate.clocks;
    try {
      launch();
      gpu_.synchronize();
      row.error = error_of(out);
      row.launches = launches_per_graph(launch);
      time(launch, row);
      return true;
    } catch (const Error&) {
      if (candidate.family != "dense") throw;
      return false;
    }
  }

 private:
  void prepare(const Candidate& candidate) {
    const ActivationFormat& in = problem_.input_formats[0][candidate.reads[0]];
    const ActivationFormat& out = problem_.output_formats[candidate.writes];
    const auto size_in = static_cast<std::size_t>(bytes_of(in, problem_.input_size(0)));
    const auto size_out = static_cast<std::size_t>(bytes_of(out, problem_.output_size()));
    input_ = DeviceBuffer<std::byte>();  // frees before it allocates
    output_ = DeviceBuffer<std::byte>();
    workspace_ = DeviceBuffer<std::byte>();
    input_ = DeviceBuffer<std::byte>(size_in);
    output_ = DeviceBuffer<std::byte>(size_out);
    workspace_ = DeviceBuffer<std::byte>(candidate.layer->workspace_bytes());
    CUDA_CHECK(cudaMemsetAsync(input_.get(), 0, size_in, gpu_.stream()));
    CUDA_CHECK(cudaMemsetAsync(output_.get(), 0xff, size_out, gpu_.stream()));  // NaN
    convert({noise_.get(), row_major(Precision::f32), problem_.input_size(0)},
            orders_.view(input_.get(), in, problem_.input_size(0)), gpu_.stream());
  }

  double error_of(const ActivationView& out) {
    if (expected_.empty()) return 0;
    const Extents size = problem_.output_size();
    const DeviceBuffer<float> values(static_cast<std::size_t>(oracle_.count()));
    convert(out, {values.get(), row_major(Precision::f32), size}, gpu_.stream());
    gpu_.synchronize();
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < sampled_.size(); ++i) {
      float found = 0;
      CUDA_CHECK(
          cudaMemcpy(&found, values.get() + sampled_[i], sizeof(found), cudaMemcpyDeviceToHost));
      difference += (found - expected_[i]) * (found - expected_[i]);
      norm += expected_[i] * expected_[i];
    }
    return std::sqrt(difference / std::max(norm, 1e-300));
  }

  // Long kernels need no company to hide the launch of a graph, which is about 2 us.
  template <typename Launch>
  int launches_per_graph(const Launch& launch) {
    const Event begin, end;
    begin.record(gpu_.stream());
    launch();
    end.record(gpu_.stream());
    const double wanted = kGraphMs / std::max(milliseconds_between(begin, end), 1e-3);
    return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(options_.launches)));
  }

  template <typename Launch>
  void time(const Launch& launch, LayerBenchRow& row) {
    const DeviceGraph graph = DeviceGraph::capture(gpu_.stream(), [&] {
      for (int i = 0; i < row.launches; ++i) launch();
    });
    std::vector<double> times;
    for (int i = -1; i < options_.repeats; ++i) {
      const Event begin, end;
      begin.record(gpu_.stream());
      graph.launch(gpu_.stream());
      end.record(gpu_.stream());
      const double ms = milliseconds_between(begin, end) / row.launches;
      if (i >= 0) times.push_back(ms);  // the first warms up
    }
    row.median_ms = median(times);
    const auto [fastest, slowest] = std::minmax_element(times.begin(), times.end());
    row.spread = (*slowest - *fastest) / row.median_ms;
  }

  const LayerProblem& problem_;
  const OrderTables& orders_;
  const LayerBenchOptions& options_;
  GpuContext& gpu_;
  Oracle oracle_;
  std::vector<std::int64_t> sampled_;
  std::vector<double> expected_;
  DeviceBuffer<std::byte> noise_, input_, output_, workspace_;
};

}  // namespace

std::vector<LayerBenchRow> bench_layer(const DeployedModel& model, const SessionOptions& session,
                                       const LayerBenchOptions& options) {
  const Program program = build_program(model, session.batch);
  if (program.steps.size() != 1 || !std::holds_alternative<Conv>(program.steps[0].op)) {
    fail(ErrorCode::usage, "bench_layer: the model is not one convolution");
  }
  GpuContext gpu(session.gpu);
  const Step& step = program.steps[0];
  const std::vector<StepFusions> fusions = step_fusions(program);
  SessionOptions asked = session;
  const bool has_gathered =
      std::ranges::find(options.families, "gathered") != options.families.end();
  if (has_gathered) asked.family = "gathered";
  const GatheredValues gathered = session_values(model, program, asked, fusions);
  const auto formats = value_formats(program, model, session, {}, gathered);
  const OrderTables orders(gathered.orders);
  const LayerProblem problem{model,
                             program,
                             step,
                             asked,
                             {formats[step.inputs[0]]},
                             formats[step.output],
                             nullptr,
                             fusions[0],
                             &gathered.orders};
  LayerBench bench(problem, orders, options, gpu);
  std::vector<LayerBenchRow> rows;
  std::set<std::string> measured;  // one candidate per kernel: formats differ in halos only
  for (const std::string& name : options.families) {
    const Family& family = family_named(name);
    asked.family = name;
    const std::string reason = family.why_not(problem, gpu);
    if (!reason.empty()) fail(ErrorCode::device, name, ": ", reason);
    for (const Candidate& candidate : family.candidates(problem, gpu)) {
      LayerBenchRow row;
      if (!measured.insert(candidate.timing_key).second) continue;
      if (bench.measure(candidate, row)) rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace winnow
