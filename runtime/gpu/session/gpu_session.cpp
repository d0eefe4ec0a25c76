#include "runtime/gpu/session/gpu_session.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "runtime/device/current_device.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/noise.h"
#include "runtime/gpu/session/byte_input.h"
#include "runtime/gpu/session/caller_work.h"
#include "runtime/gpu/session/kernel_timer.h"
#include "runtime/gpu/session/network_executor.h"
#include "runtime/plan/describe.h"

namespace winnow {
namespace {

constexpr int kComparisonWarmUp = 3;
constexpr int kComparisonRepeats = 11;
constexpr std::uint32_t kNoiseSeed = 7;

void check_options(const SessionOptions& options) {
  const int sub_batch = options.sub_batch;
  const bool is_known =
      sub_batch == 0 || sub_batch == 1 || sub_batch == 2 || sub_batch == 4 || sub_batch == 8;
  if (!is_known) fail(ErrorCode::usage, "sub_batch is ", sub_batch, ", expected 1, 2, 4 or 8");
  if (!options.family.empty()) family_named(options.family);
  if (options.use_tf32 && options.precision != Precision::f32) {
    fail(ErrorCode::usage, "TF32 is for precision f32, got ", to_string(options.precision));
  }
}

// Rows of the table that reads the network's input as token numbers, if one does.
std::optional<std::int64_t> token_rows(const Program& program) {
  std::optional<std::int64_t> rows;
  for (const Step& step : program.steps) {
    const auto* embedding = std::get_if<Embedding>(&step.op);
    if (embedding == nullptr || step.inputs[0] != program.input) continue;
    rows = rows.has_value() ? std::min(*rows, embedding->rows) : embedding->rows;
  }
  return rows;
}

class GpuSession : public Session {
 public:
  GpuSession(const DeployedModel& model, const SessionOptions& options)
      : options_(options), gpu_(options.gpu), program_(build_program(model, options.batch)) {
    NetworkPlanner planner(model, program_, options_, gpu_);
    describe(model, planner);
    executor_ = fastest(planner);
    counts_ = planner.table().counts();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i].family = executor_->plan().steps[i].family;
      layers_[i].kernel = executor_->plan().steps[i].kernel;
    }
    input_ = PinnedBuffer<float>(count_of(program_.input));
    output_ = PinnedBuffer<float>(count_of(program_.output));
    token_rows_ = token_rows(program_);
    std::fill(input_.values().begin(), input_.values().end(), 0.0f);
    copy_input();
    gpu_.synchronize();
    if (!options_.is_profiled) record();
  }

  ~GpuSession() override {
    cudaStreamSynchronize(gpu_.stream());
    cudaEventSynchronize(last_run_.get());
  }

  std::string device() const override {
    return "cuda:" + std::to_string(gpu_.index()) + " (" + gpu_.name() + ")";
  }
  std::vector<LayerPlan> layers() const override { return layers_; }

  TimingCounts timing_counts() const override { return counts_; }

  void run(std::span<const float> input, std::span<float> output) override {
    check_output(output);
    const CurrentDevice current(gpu_.index());
    take_input(input);
    last_run_.hold(gpu_.stream());
    copy_input();
    enqueue_network(gpu_.stream());
    fetch(output);
  }

  bool takes_bytes() const override { return executor_->reads_bytes(); }

  void run_bytes(std::span<const std::uint8_t> input, std::span<float> output) override {
    if (!takes_bytes()) return Session::run_bytes(input, output);
    check_output(output);
    if (input.size() != count_of(program_.input)) {
      fail(ErrorCode::usage, "input: got ", input.size(), " bytes, expected ",
           count_of(program_.input));
    }
    const CurrentDevice current(gpu_.index());
    last_run_.hold(gpu_.stream());
    bytes_.enqueue(*executor_, input, !options_.is_profiled, gpu_.stream());
    fetch(output);
  }

  void run_device(const float* input, std::int64_t samples, float* output, void* stream) override {
    if (samples < 0 || samples > options_.batch) {
      fail(ErrorCode::usage, "run_device: found ", samples, " samples, expected 0 to the batch of ",
           options_.batch);
    }
    const CurrentDevice current(gpu_.index());
    check_device_memory(input, "run_device: input", gpu_.index());
    check_device_memory(output, "run_device: output", gpu_.index());
    if (samples == 0) return;
    const auto on = static_cast<cudaStream_t>(stream);
    if (is_recording(on)) {
      enqueue_samples(input, samples, output, on, [&] { executor_->enqueue(on); });
      return;
    }
    last_run_.hold(on);
    enqueue_samples(input, samples, output, on, [&] { enqueue_network(on); });
    last_run_.record(on);
  }

  void set_input(std::span<const float> input) override {
    const CurrentDevice current(gpu_.index());
    take_input(input);
    last_run_.hold(gpu_.stream());
    copy_input();
    gpu_.synchronize();
  }

  std::vector<double> time_network(int warm_up, int repeats) override {
    const CurrentDevice current(gpu_.index());
    last_run_.hold(gpu_.stream());
    for (int i = 0; i < warm_up; ++i) enqueue_network(gpu_.stream());
    std::vector<double> times;
    const Event begin, end;
    for (int i = 0; i < repeats; ++i) {
      begin.record(gpu_.stream());
      enqueue_network(gpu_.stream());
      end.record(gpu_.stream());
      times.push_back(milliseconds_between(begin, end));
    }
    return times;
  }

  std::vector<std::vector<double>> time_layers(int warm_up, int repeats) override {
    const CurrentDevice current(gpu_.index());
    last_run_.hold(gpu_.stream());
    std::vector<std::vector<double>> times;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      // In order, so that a step's first run works on the values of the steps before it. What a
      // conversion reads may be overwritten in later runs; times do not depend on values.
      executor_->enqueue_step(i, gpu_.stream());
      if (executor_->is_free(i)) {
        times.emplace_back(static_cast<std::size_t>(repeats), 0.0);
        continue;
      }
      times.push_back(
          time_repeatedly([&](cudaStream_t stream) { executor_->enqueue_step(i, stream); }, warm_up,
                          repeats, gpu_.stream()));
    }
    return times;
  }

  std::vector<std::vector<float>> step_outputs() override {
    const CurrentDevice current(gpu_.index());
    last_run_.hold(gpu_.stream());
    std::vector<std::vector<float>> outputs;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      executor_->enqueue_step(i, gpu_.stream());
      outputs.emplace_back();
      if (!executor_->is_deferred(i)) outputs.back() = download(executor_->step_output(i));
    }
    return outputs;
  }

 private:
  void check_output(std::span<const float> output) const {
    if (output.size() == output_.values().size()) return;
    fail(ErrorCode::usage, "output: got ", output.size(), " values, expected ",
         output_.values().size());
  }

  // Waits for the network and copies its output.
  void fetch(std::span<float> output) {
    CUDA_CHECK(cudaMemcpyAsync(output_.values().data(), executor_->output(),
                               output_.values().size_bytes(), cudaMemcpyDeviceToHost,
                               gpu_.stream()));
    gpu_.synchronize();
    std::copy(output_.values().begin(), output_.values().end(), output.begin());
  }

  std::size_t count_of(std::size_t value) const {
    return static_cast<std::size_t>(element_count(program_.values[value].shape));
  }

  void describe(const DeployedModel& model, const NetworkPlanner& planner) {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      layers_.push_back(describe_step(model, program_, program_.steps[i]));
      const bool is_timed = options_.choice == KernelChoice::measured && !planner.is_known();
      if (is_timed) layers_.back().candidates = planner.timings(i);
    }
  }

  // Algorithm 2 for the whole network, and never slower than dense: what was chosen from the steps'
  // times must win as a whole.
  std::unique_ptr<NetworkExecutor> fastest(NetworkPlanner& planner) {
    const bool is_free = options_.choice == KernelChoice::measured && options_.family.empty() &&
                         !options_.is_survey && !planner.is_known();
    NetworkPlan chosen = planner.plan(Allowed::as_asked);
    std::vector<NetworkPlan> plans;  // dense first, see fastest_network
    if (is_free && !is_dense(chosen) && planner.has_dense()) {
      plans.push_back(planner.plan(Allowed::dense_only));
    }
    plans.push_back(std::move(chosen));
    if (is_free && planner.has_stacks()) plans.push_back(planner.plan(Allowed::stacked));
    NetworkPlan& best = plans[fastest_of(planner, plans)];
    planner.keep_choice(best);
    return std::make_unique<NetworkExecutor>(program_, std::move(best), gpu_);
  }

  std::size_t fastest_of(NetworkPlanner& planner, const std::vector<NetworkPlan>& plans) {
    if (plans.size() == 1) return 0;
    std::vector<std::string> keys;
    for (const NetworkPlan& plan : plans) keys.push_back(planner.key_of(plan));
    const auto measure = [&] {
      std::vector<Timing> timings;
      for (const NetworkPlan& plan : plans) timings.push_back(time_plan(plan));
      return timings;
    };
    std::vector<double> ms;
    for (const Timing& timing : planner.table().get_together(keys, measure)) {
      ms.push_back(timing.median_ms);
    }
    return fastest_network(ms);
  }

  static bool is_dense(const NetworkPlan& plan) {
    return std::ranges::none_of(
        plan.steps, [](const Candidate& step) { return family_named(step.family).is_sparse(); });
  }

  Timing time_plan(const NetworkPlan& plan) {
    const NetworkExecutor executor(program_, plan, gpu_);
    fill_noise(executor.input(), static_cast<std::int64_t>(count_of(program_.input)),
               Precision::f32, kNoiseSeed, gpu_.stream());
    return timing_of(time_repeatedly([&](cudaStream_t stream) { executor.enqueue(stream); },
                                     kComparisonWarmUp, kComparisonRepeats, gpu_.stream()));
  }

  void record() {
    executor_->enqueue(gpu_.stream());  // loads code outside the recording
    gpu_.synchronize();
    graph_ = DeviceGraph::capture(gpu_.stream(), [&] { executor_->enqueue(gpu_.stream()); });
  }

  void enqueue_network(cudaStream_t stream) {
    if (graph_.is_empty()) {
      executor_->enqueue(stream);
    } else {
      graph_.launch(stream);
    }
  }

  // `enqueue` enqueues the network. Rows beyond the samples hold what was there before; images do
  // not touch each other.
  template <typename Enqueue>
  void enqueue_samples(const float* input, std::int64_t samples, float* output, cudaStream_t stream,
                       Enqueue enqueue) {
    copy_rows(executor_->input(), input, program_.input, samples, stream);
    enqueue();
    copy_rows(output, executor_->output(), program_.output, samples, stream);
  }

  // `samples` of the rows of a value, within the device.
  void copy_rows(float* to, const float* from, std::size_t value, std::int64_t samples,
                 cudaStream_t stream) {
    const std::size_t floats = count_of(value) / static_cast<std::size_t>(options_.batch) *
                               static_cast<std::size_t>(samples);
    CUDA_CHECK(cudaMemcpyAsync(to, from, floats * sizeof(float), cudaMemcpyDefault, stream));
  }

  void take_input(std::span<const float> input) {
    if (input.size() != input_.values().size()) {
      fail(ErrorCode::usage, "input: got ", input.size(), " values, expected ",
           input_.values().size());
    }
    if (token_rows_.has_value()) {
      for (const float token : input) {
        const bool is_known =
            token >= 0 && token < static_cast<float>(*token_rows_) && token == std::floor(token);
        if (!is_known) {
          fail(ErrorCode::usage, "token ", token, " is not in the table of ", *token_rows_,
               " rows");
        }
      }
    }
    std::copy(input.begin(), input.end(), input_.values().begin());
  }

  void copy_input() {
    CUDA_CHECK(cudaMemcpyAsync(executor_->input(), input_.values().data(),
                               input_.values().size_bytes(), cudaMemcpyHostToDevice,
                               gpu_.stream()));
  }

  // Any view as row-major fp32 in host memory.
  std::vector<float> download(const ActivationView& view) {
    const Extents& size = view.size;
    std::vector<float> values(
        static_cast<std::size_t>(element_count({size.n, size.c, size.h, size.w})));
    const DeviceBuffer<float> buffer(values.size());
    convert(view, {buffer.get(), row_major(Precision::f32), size}, gpu_.stream());
    gpu_.synchronize();
    CUDA_CHECK(cudaMemcpy(values.data(), buffer.get(), buffer.bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

  SessionOptions options_;
  GpuContext gpu_;  // outlives all layers
  Program program_;
  std::vector<LayerPlan> layers_;
  TimingCounts counts_;
  std::unique_ptr<NetworkExecutor> executor_;
  DeviceGraph graph_;
  Event last_run_{false};  // on a caller's stream; others follow it, as all use the same memory
  PinnedBuffer<float> input_, output_;
  ByteInput bytes_;
  std::optional<std::int64_t> token_rows_;
};

}  // namespace

std::unique_ptr<Session> make_gpu_session(const DeployedModel& model,
                                          const SessionOptions& options) {
  check_options(options);
  const std::string reason = gpu_unavailable_reason();
  if (!reason.empty()) fail(ErrorCode::device, "GPU ", options.gpu, ": ", reason);
  const CurrentDevice current(options.gpu);
  return std::make_unique<GpuSession>(model, options);
}

}  // namespace winnow
