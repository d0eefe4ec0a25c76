#include "runtime/cpu/cpu_session.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/processor.h"
#include "runtime/base/suggest.h"
#include "runtime/base/wall_clock.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/cpu_session_for_isa.h"
#include "runtime/cpu/split_planner.h"

namespace winnow {
namespace {

class CpuSession final : public Session {
 public:
  CpuSession(const DeployedModel& model, const SessionOptions& options, Isa isa)
      : isa_(isa),
        pool_(options.pool ? options.pool : std::make_shared<ThreadPool>(options.threads)),
        planned_(plan_split_network(model, options, isa, *pool_)) {
    const std::span<float> input = planned_.network->input();
    std::fill(input.begin(), input.end(), 0.0f);
  }

  std::string device() const override {
    return cpu_device_name(pool_->threads(), ", " + std::string(to_string(isa_)));
  }

  std::vector<LayerPlan> layers() const override { return planned_.layers; }

  TimingCounts timing_counts() const override { return planned_.timings; }

  void run(std::span<const float> input, std::span<float> output) override {
    const std::span<const float> result = planned_.network->output();
    if (output.size() != result.size()) {
      fail(ErrorCode::usage, "run: output of ", output.size(), " floats, expected ", result.size());
    }
    set_input(input);
    planned_.network->run(*pool_);
    std::copy(result.begin(), result.end(), output.begin());
  }

  // Without copies: batches are read and written where the network has them.
  void run_all(const SampleStream& stream) override {
    const std::span<float> input = planned_.network->input();
    const std::span<const float> output = planned_.network->output();
    for (std::int64_t first = 0; first < stream.samples; first += stream.batch) {
      const std::int64_t count = std::min(stream.batch, stream.samples - first);
      const auto inputs = static_cast<std::size_t>(count * stream.input_size);
      stream.read(first, input.first(inputs));
      std::ranges::fill(input.subspan(inputs), 0.0f);
      planned_.network->run(*pool_);
      stream.write(first, output.first(static_cast<std::size_t>(count * stream.output_size)));
    }
  }

  void set_input(std::span<const float> input) override {
    const std::span<float> own = planned_.network->input();
    if (input.size() != own.size()) {
      fail(ErrorCode::usage, "run: input of ", input.size(), " floats, expected ", own.size());
    }
    std::copy(input.begin(), input.end(), own.begin());
  }

  std::vector<double> time_network(int warm_up, int repeats) override {
    std::vector<double> times;
    for (int i = -warm_up; i < repeats; ++i) {
      const double ms = run_ms([&] { planned_.network->run(*pool_); });
      if (i >= 0) times.push_back(ms);
    }
    return times;
  }

  // Steps run in order, each on what the step before left, as in the network.
  std::vector<std::vector<double>> time_layers(int warm_up, int repeats) override {
    std::vector<std::vector<double>> times(planned_.layers.size());
    for (int i = -warm_up; i < repeats; ++i) {
      for (std::size_t step = 0; step < times.size(); ++step) {
        const double ms = run_ms([&] { planned_.network->run_step(step, *pool_); });
        if (i >= 0) times[step].push_back(ms);
      }
    }
    return times;
  }

  std::vector<std::vector<float>> step_outputs() override {
    return planned_.network->step_outputs(*pool_);
  }

 private:
  Isa isa_;
  std::shared_ptr<ThreadPool> pool_;
  PlannedNetwork planned_;
};

void check_options(const SessionOptions& options) {
  if (options.precision != Precision::f32) {
    fail(ErrorCode::usage, "precision f16: the CPU backend computes in f32 only");
  }
  if (options.use_tf32) fail(ErrorCode::usage, "TF32 is for GPUs, the device is a CPU");
  if (options.sub_batch != 0) {
    fail(ErrorCode::usage, "a sub-batch (", options.sub_batch,
         ") is for GPUs, the device is a CPU");
  }
  if (options.all_plans) {
    fail(ErrorCode::usage, "trying all plans is for GPUs, the device is a CPU");
  }
  const std::vector<std::string> families = cpu_families();
  const bool is_known = options.family.empty() || std::find(families.begin(), families.end(),
                                                            options.family) != families.end();
  if (!is_known) {
    fail(ErrorCode::usage, "the CPU has no kernel family '", options.family, "'",
         suggestion(options.family, families));
  }
}

}  // namespace

std::unique_ptr<Session> make_cpu_session_for_isa(const DeployedModel& model,
                                                  const SessionOptions& options, Isa isa) {
  check_options(options);
  micro_kernels(isa);  // throws where it is missing
  return std::make_unique<CpuSession>(model, options, isa);
}

std::unique_ptr<Session> make_cpu_session(const DeployedModel& model,
                                          const SessionOptions& options) {
  return make_cpu_session_for_isa(model, options, available_isas().back());
}

}  // namespace winnow
