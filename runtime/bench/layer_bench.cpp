#include "runtime/bench/layer_bench.h"

#include <algorithm>
#include <utility>

#include "runtime/base/median.h"
#include "runtime/device/graph.h"
#include "runtime/device/profiled_range.h"
#include "runtime/gpu/dense/dense_conv.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/noise.h"
#include "runtime/gpu/pointwise/pool.h"
#include "runtime/gpu/pointwise/sample_values.h"
#include "runtime/plan/choice.h"

namespace winnow {
namespace {

constexpr double kGraphMs = 2;
constexpr double kTrialMs = 0.5;
constexpr double kHopeless = 3;  // times slower than the best: not worth a trial of several

void reserve(DeviceBuffer<std::byte>& buffer, std::size_t bytes) {
  if (buffer.bytes() >= bytes) return;
  buffer = DeviceBuffer<std::byte>();  // frees before it allocates
  buffer = DeviceBuffer<std::byte>(bytes);
}

template <typename Launch>
double milliseconds_of(const Launch& launch, cudaStream_t stream) {
  const Event begin, end;
  begin.record(stream);
  launch();
  end.record(stream);
  return milliseconds_between(begin, end);
}

template <typename Launch>
DeviceGraph recorded(const Launch& launch, int launches, cudaStream_t stream) {
  return DeviceGraph::capture(stream, [&] {
    for (int i = 0; i < launches; ++i) launch();
  });
}

}  // namespace

struct KernelBench::Views {
  ActivationView in, between, out;
};

KernelBench::KernelBench(const LayerSetup& setup, const BenchPlace& place)
    : setup_(setup), place_(place), input_format_(kDeferred) {
  const ActivationFormat format = row_major(Precision::f32);
  const auto most =
      std::max(bytes_of(format, setup.input_size()), bytes_of(format, setup.output_size()));
  row_major_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(most));
}

KernelBench::Views KernelBench::views_of(const LayerKernel& kernel) const {
  const OrderTables& orders = setup_.orders();
  Views views{orders.view(input_.get(), kernel.in, setup_.input_size()),
              {},
              orders.view(output_.get(), kernel.out, setup_.output_size())};
  if (kernel.between.has_value()) {
    views.between = orders.view(between_.get(), *kernel.between, setup_.between_size());
  }
  return views;
}

// The input as the kernel reads it, and outputs that are no numbers.
void KernelBench::prepare(const LayerKernel& kernel) {
  constexpr int kNoNumbers = 0xff;  // bytes of half floats and floats that are none
  const auto bytes = [](const ActivationFormat& format, const Extents& size) {
    return static_cast<std::size_t>(bytes_of(format, size));
  };
  const cudaStream_t stream = place_.gpu.stream();
  const Extents in = setup_.input_size();
  reserve(output_, bytes(kernel.out, setup_.output_size()));
  CUDA_CHECK(cudaMemsetAsync(output_.get(), kNoNumbers, output_.bytes(), stream));
  if (kernel.between.has_value()) {
    reserve(between_, bytes(*kernel.between, setup_.between_size()));
    CUDA_CHECK(cudaMemsetAsync(between_.get(), kNoNumbers, between_.bytes(), stream));
  }
  reserve(workspace_, kernel.layer->workspace_bytes());
  if (input_format_ == kernel.in) return;
  reserve(input_, bytes(kernel.in, in));
  CUDA_CHECK(cudaMemsetAsync(input_.get(), 0, input_.bytes(), stream));
  fill_noise(row_major_.get(), in.count(), Precision::f32, kBenchSeed, stream);
  convert({row_major_.get(), row_major(Precision::f32), in}, views_of(kernel).in, stream);
  input_format_ = kernel.in;
}

void KernelBench::launch(const LayerKernel& kernel, const Views& views) const {
  const Workspace workspace{workspace_.get(), kernel.layer->workspace_bytes()};
  const cudaStream_t stream = place_.gpu.stream();
  const bool is_followed = kernel.between.has_value();
  kernel.layer->launch(std::span(&views.in, 1), is_followed ? views.between : views.out, workspace,
                       stream);
  if (is_followed) pool(*setup_.pool(), views.between, views.out, stream);
}

// Long kernels need no company to hide the launch of a graph, which is about 2 us.
int KernelBench::launches_for(double estimate_ms) const {
  const double wanted = kGraphMs / std::max(estimate_ms, 1e-3);
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(place_.options.launches)));
}

double KernelBench::trial(const LayerKernel& kernel, double give_up_ms) {
  const cudaStream_t stream = place_.gpu.stream();
  prepare(kernel);
  const Views views = views_of(kernel);
  const auto once = [&] { launch(kernel, views); };
  once();  // loads code; its time means nothing
  const double estimate = milliseconds_of(once, stream);
  if (estimate > kHopeless * give_up_ms) return estimate;
  const double wanted = kTrialMs / std::max(estimate, 1e-3);
  const int launches = static_cast<int>(std::clamp(wanted, 2.0, 20.0));
  const DeviceGraph graph = recorded(once, launches, stream);
  const auto run = [&] { graph.launch(stream); };
  run();
  return std::min(milliseconds_of(run, stream), milliseconds_of(run, stream)) / launches;
}

void KernelBench::launch_for_profiler(const LayerKernel& kernel) {
  constexpr int kBefore = 5;
  prepare(kernel);
  const Views views = views_of(kernel);
  for (int i = 0; i < kBefore; ++i) launch(kernel, views);
  place_.gpu.synchronize();
  const ProfiledRange range;
  launch(kernel, views);
  place_.gpu.synchronize();
}

LayerBenchRow KernelBench::measure(const LayerKernel& kernel, const SampledOutputs& expected) {
  const cudaStream_t stream = place_.gpu.stream();
  prepare(kernel);
  const Views views = views_of(kernel);
  const auto once = [&] { launch(kernel, views); };
  LayerBenchRow row{.family = kernel.family, .kernel = kernel.kernel, .clocks = kernel.clocks};
  once();
  if (!expected.positions.empty()) {
    row.error = relative_error(
        sample_values(views.out, expected.positions, row_major_.get(), stream), expected.values);
  }
  row.launches = launches_for(milliseconds_of(once, stream));
  const DeviceGraph graph = recorded(once, row.launches, stream);
  const auto run = [&] { graph.launch(stream); };
  milliseconds_of(run, stream);  // warms up
  std::vector<double> times;
  for (int i = 0; i < place_.options.repeats; ++i) {
    times.push_back(milliseconds_of(run, stream) / row.launches);
  }
  run();
  row.clock_mhz = place_.clock.mhz();
  place_.gpu.synchronize();
  row.median_ms = median(times);
  const auto [fastest, slowest] = std::minmax_element(times.begin(), times.end());
  row.spread = (*slowest - *fastest) / row.median_ms;
  return row;
}

std::vector<LayerBenchRow> bench_family(const std::string& family, LayerSetup& setup,
                                        const SampledOutputs& expected, const BenchPlace& place) {
  KernelBench timer(setup, place);
  std::vector<LayerBenchRow> rows;
  for (const LayerKernel& kernel : setup.kernels(family, place.gpu)) {
    rows.push_back(timer.measure(kernel, expected));
  }
  return rows;
}

DenseBench::DenseBench(const LayerSetup& setup, const BenchPlace& place)
    : timer_(setup, place), place_(place) {
  const std::string reason = cudnn_missing_reason(place.gpu);
  if (!reason.empty()) fail(ErrorCode::device, "dense: ", reason);
  make_kernels(setup);
  keep_fastest();
}

void DenseBench::make_kernels(const LayerSetup& setup) {
  const LayerProblem problem = setup.problem();
  for (const DenseConv& dense : dense_convs(problem, setup.conv())) {
    const auto parameters = std::make_shared<CudnnParameters>(
        upload_for_cudnn(dense.problem, dense_floats(problem.weights().weight),
                         bias_or_zeros(problem.weights().bias, setup.conv().out_channels)));
    forms_.push_back({dense.problem, parameters});
    for (NamedLayer& layer :
         named_layers(dense.problem, cudnn_layers(dense.problem, parameters, place_.gpu))) {
      kernels_.push_back(setup.whole({.family = "dense",
                                      .kernel = layer.name,
                                      .in = problem.input_formats[0][dense.reads],
                                      .out = problem.output_formats[dense.writes],
                                      .layer = std::move(layer.layer)}));
    }
  }
}

void DenseBench::keep_fastest() {
  std::vector<std::pair<double, LayerKernel>> ranked;
  double best_ms = kImpossible;
  for (LayerKernel& kernel : kernels_) {
    try {
      const double ms = timer_.trial(kernel, best_ms);
      best_ms = std::min(best_ms, ms);
      ranked.emplace_back(ms, std::move(kernel));
    } catch (const Error&) {  // a plan that cuDNN made may still be refused when it is launched
      place_.gpu.synchronize();
    }
  }
  if (ranked.empty()) fail(ErrorCode::device, "dense: cuDNN runs no kernel for the layer");
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  tried_ = ranked.size();
  kernels_.clear();
  for (auto& [_, kernel] : ranked) {
    if (kernels_.size() < place_.options.dense_kernels) kernels_.push_back(std::move(kernel));
  }
}

LayerBenchRow DenseBench::measure(const LayerSetup& setup, const SampledOutputs& expected) {
  const StepWeights weights = setup.problem().weights();
  const std::vector<float> weight = dense_floats(weights.weight);
  const std::vector<float> bias = bias_or_zeros(weights.bias, setup.conv().out_channels);
  for (const Form& form : forms_) {
    *form.parameters = upload_for_cudnn(form.problem, weight, bias);
  }
  std::vector<LayerBenchRow> rows;
  for (const LayerKernel& kernel : kernels_) rows.push_back(timer_.measure(kernel, expected));
  return *std::ranges::min_element(rows, {}, &LayerBenchRow::median_ms);
}

}  // namespace winnow
