#include "runtime/gpu/session/gpu_session.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "runtime/device/current_device.h"
#include "runtime/device/gpu.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/session/batch_pipeline.h"
#include "runtime/gpu/session/byte_input.h"
#include "runtime/gpu/session/caller_work.h"
#include "runtime/gpu/session/kernel_timer.h"
#include "runtime/gpu/session/session_plan.h"

namespace winnow {
namespace {

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

void check_tokens(std::span<const float> tokens, std::int64_t rows) {
  for (const float token : tokens) {
    const bool is_known =
        token >= 0 && token < static_cast<float>(rows) && token == std::floor(token);
    if (!is_known) {
      fail(ErrorCode::usage, "token ", token, " is not in the table of ", rows, " rows");
    }
  }
}

std::size_t count_of(const Program& program, std::size_t value) {
  return static_cast<std::size_t>(element_count(program.values[value].shape));
}

// A network for one batch size.
struct RecordedNetwork {
  std::unique_ptr<DeviceNetwork> network;
  DeviceGraph graph;  // empty where steps are to be profiled
};

class GpuSession : public Session {
 public:
  explicit GpuSession(std::shared_ptr<const SessionPlan> plan)
      : plan_(std::move(plan)),
        networks_(plan_->sizes().size()),
        inputs_(count_of(plan_->program(), plan_->program().input)),
        outputs_(count_of(plan_->program(), plan_->program().output)),
        token_rows_(token_rows(plan_->program())),
        input_(inputs_),
        output_(outputs_) {
    for (std::size_t i = networks_.size(); i-- > 0;) {  // the largest takes memory first
      networks_[i].network = plan_->make_network(i, memory_, stream_.get());
      if (!plan_->options().is_profiled) record(networks_[i]);
    }
    stream_.synchronize();
  }

  ~GpuSession() override {
    cudaStreamSynchronize(stream_.get());
    cudaEventSynchronize(last_run_.get());
  }

  std::string device() const override {
    return "cuda:" + std::to_string(gpu()) + " (" + plan_->gpu().name() + ")";
  }
  std::vector<LayerPlan> layers() const override { return plan_->layers(); }
  TimingCounts timing_counts() const override { return plan_->counts(); }
  std::vector<NetworkTiming> network_timings() const override { return plan_->networks(); }

  void run(std::span<const float> input, std::span<float> output) override {
    check_size("input", input.size(), inputs_);
    check_size("output", output.size(), outputs_);
    const CurrentDevice current(gpu());
    run_alone(
        {.samples = batch(),
         .batch = batch(),
         .input_size = static_cast<std::int64_t>(inputs_) / batch(),
         .output_size = static_cast<std::int64_t>(outputs_) / batch(),
         .read = [&](std::int64_t, std::span<float> to) { std::ranges::copy(input, to.begin()); },
         .write = [&](std::int64_t,
                      std::span<const float> from) { std::ranges::copy(from, output.begin()); }});
  }

  void run_all(const SampleStream& samples) override {
    if (samples.samples == 0) return;
    const CurrentDevice current(gpu());
    if (samples.samples <= batch()) {
      run_alone(samples);
      return;
    }
    if (!pipeline_) pipeline_.emplace(inputs_, outputs_);
    SampleStream checked = samples;
    checked.read = [&](std::int64_t first, std::span<float> inputs) {
      samples.read(first, inputs);
      if (token_rows_) check_tokens(inputs, *token_rows_);
    };
    last_run_.hold(stream_.get());
    pipeline_->run(checked, stream_.get(),
                   [&](const float* input, std::int64_t count, float* output) {
                     enqueue_samples(input, count, output, stream_.get());
                   });
  }

  bool takes_bytes() const override { return whole().network->reads_bytes(); }

  void run_bytes(std::span<const std::uint8_t> input, std::span<float> output) override {
    if (!takes_bytes()) return Session::run_bytes(input, output);
    check_size("input", input.size(), inputs_);
    check_size("output", output.size(), outputs_);
    const CurrentDevice current(gpu());
    last_run_.hold(stream_.get());
    enqueue_bytes(input);
    copy(output_.values().data(), whole().network->output(), outputs_, stream_.get());
    stream_.synchronize();
    std::ranges::copy(output_.values(), output.begin());
  }

  std::unique_ptr<Session> share() const override {
    const CurrentDevice current(gpu());
    return std::make_unique<GpuSession>(plan_);
  }

  void run_device(const float* input, std::int64_t samples, float* output, void* stream) override {
    if (samples < 0 || samples > batch()) {
      fail(ErrorCode::usage, "run_device: found ", samples, " samples, expected 0 to the batch of ",
           batch());
    }
    const CurrentDevice current(gpu());
    check_device_memory(input, "run_device: input", gpu());
    check_device_memory(output, "run_device: output", gpu());
    const auto on = static_cast<cudaStream_t>(stream);
    if (is_recording(on)) {
      enqueue_samples(input, samples, output, on, true);
      return;
    }
    last_run_.hold(on);
    try {
      enqueue_samples(input, samples, output, on);
    } catch (...) {
      last_run_.record(on);  // what has been enqueued uses the memory that others wait for
      throw;
    }
    last_run_.record(on);
  }

  void set_input(std::span<const float> input) override {
    check_size("input", input.size(), inputs_);
    if (token_rows_) check_tokens(input, *token_rows_);
    const CurrentDevice current(gpu());
    std::ranges::copy(input, input_.values().begin());
    last_run_.hold(stream_.get());
    copy(whole().network->input(), input_.values().data(), inputs_, stream_.get());
    stream_.synchronize();
  }

  std::vector<double> time_network(int warm_up, int repeats) override {
    const CurrentDevice current(gpu());
    last_run_.hold(stream_.get());
    for (int i = 0; i < warm_up; ++i) enqueue(whole(), stream_.get());
    stream_.synchronize();
    std::vector<double> times;
    const Event begin, end;
    for (int i = 0; i < repeats; ++i) {
      begin.record(stream_.get());
      enqueue(whole(), stream_.get());
      end.record(stream_.get());
      times.push_back(milliseconds_between(begin, end));
    }
    return times;
  }

  std::vector<std::vector<double>> time_layers(int warm_up, int repeats) override {
    const CurrentDevice current(gpu());
    const std::lock_guard lock(plan_->enqueuing());
    last_run_.hold(stream_.get());
    const DeviceNetwork& network = *whole().network;
    std::vector<std::vector<double>> times;
    for (std::size_t i = 0; i < plan_->layers().size(); ++i) {
      // In order, so that a step's first run works on the values of the steps before it. What a
      // conversion reads may be overwritten in later runs; times do not depend on values.
      network.enqueue_step(i, stream_.get());
      if (network.is_free(i)) {
        times.emplace_back(static_cast<std::size_t>(repeats), 0.0);
        continue;
      }
      times.push_back(time_repeatedly([&](cudaStream_t on) { network.enqueue_step(i, on); },
                                      warm_up, repeats, stream_.get()));
    }
    return times;
  }

  std::vector<std::vector<float>> step_outputs() override {
    const CurrentDevice current(gpu());
    const std::lock_guard lock(plan_->enqueuing());
    last_run_.hold(stream_.get());
    return whole().network->step_values(stream_.get());
  }

 private:
  int gpu() const { return plan_->gpu().index(); }
  std::int64_t batch() const { return plan_->options().batch; }
  const RecordedNetwork& whole() const { return networks_.back(); }

  static void check_size(const char* name, std::size_t found, std::size_t expected) {
    if (found == expected) return;
    fail(ErrorCode::usage, name, ": got ", found, " values, expected ", expected);
  }

  static void copy(float* to, const float* from, std::size_t floats, cudaStream_t stream) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, floats * sizeof(float), cudaMemcpyDefault, stream));
  }

  void record(RecordedNetwork& recorded) {
    const std::lock_guard lock(plan_->enqueuing());
    recorded.network->enqueue(stream_.get());  // loads code outside the recording
    stream_.synchronize();
    recorded.graph =
        DeviceGraph::capture(stream_.get(), [&] { recorded.network->enqueue(stream_.get()); });
  }

  // `one_by_one`: kernel by kernel, for a stream that records.
  void enqueue(const RecordedNetwork& recorded, cudaStream_t stream,
               bool one_by_one = false) const {
    if (!one_by_one && !recorded.graph.is_empty()) {
      recorded.graph.launch(stream);
      return;
    }
    const std::lock_guard lock(plan_->enqueuing());
    recorded.network->enqueue(stream);
  }

  void enqueue_bytes(std::span<const std::uint8_t> input) {
    const std::lock_guard lock(plan_->enqueuing());
    bytes_.enqueue(*whole().network, input, !plan_->options().is_profiled, stream_.get());
  }

  // Up to a batch of samples, in the networks that hold them in least time. Rows of a network
  // beyond the samples hold what was there before; samples do not touch each other.
  void enqueue_samples(const float* input, std::int64_t samples, float* output, cudaStream_t stream,
                       bool one_by_one = false) const {
    const std::size_t inputs = inputs_ / static_cast<std::size_t>(batch());
    const std::size_t outputs = outputs_ / static_cast<std::size_t>(batch());
    for (const std::size_t index : plan_->cover(samples)) {
      const DeviceNetwork& network = *networks_[index].network;
      const auto count = static_cast<std::size_t>(std::min(samples, plan_->sizes()[index]));
      copy(network.input(), input, count * inputs, stream);
      enqueue(networks_[index], stream, one_by_one);
      copy(output, network.output(), count * outputs, stream);
      input += count * inputs;
      output += count * outputs;
      samples -= static_cast<std::int64_t>(count);
    }
  }

  // Up to a batch of samples from and to page-locked memory.
  void run_alone(const SampleStream& samples) {
    const auto inputs = static_cast<std::size_t>(samples.samples * samples.input_size);
    const auto outputs = static_cast<std::size_t>(samples.samples * samples.output_size);
    samples.read(0, input_.values().first(inputs));
    if (token_rows_) check_tokens(input_.values().first(inputs), *token_rows_);
    last_run_.hold(stream_.get());
    enqueue_samples(input_.values().data(), samples.samples, output_.values().data(),
                    stream_.get());
    stream_.synchronize();
    samples.write(0, output_.values().first(outputs));
  }

  std::shared_ptr<const SessionPlan> plan_;
  Stream stream_;
  NetworkMemory memory_;
  std::vector<RecordedNetwork> networks_;  // by the plan's batch sizes
  std::size_t inputs_, outputs_;           // floats of a whole batch
  std::optional<std::int64_t> token_rows_;
  PinnedBuffer<float> input_, output_;
  Event last_run_{false};  // on a caller's stream; others follow it, as all use the same memory
  std::optional<BatchPipeline> pipeline_;
  ByteInput bytes_;
};

}  // namespace

std::unique_ptr<Session> make_gpu_session(const DeployedModel& model,
                                          const SessionOptions& options) {
  check_options(options);
  const std::string reason = gpu_unavailable_reason();
  if (!reason.empty()) fail(ErrorCode::device, "GPU ", options.gpu, ": ", reason);
  check_gpu(options.gpu);
  const CurrentDevice current(options.gpu);
  return std::make_unique<GpuSession>(std::make_shared<const SessionPlan>(model, options));
}

}  // namespace winnow
