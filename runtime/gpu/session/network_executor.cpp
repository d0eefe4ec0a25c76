#include "runtime/gpu/session/network_executor.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/gpu/pointwise/convert.h"
#include "runtime/plan/memory.h"

namespace winnow {
namespace {

// Values may share memory with others of the same key. All values without zeros around
// them have one key.
using ArenaKey = std::tuple<int, int, int, int, int, int, std::int64_t, std::int64_t, std::int64_t>;

ArenaKey arena_key(const ActivationFormat& format, const Extents& size) {
  if (format.halo_h == 0 && format.halo_w == 0 && format.channel_padding == 0) return {};
  return {static_cast<int>(format.layout.order) + 1,
          static_cast<int>(format.layout.block),
          static_cast<int>(format.precision),
          format.halo_h,
          format.halo_w,
          format.channel_padding,
          size.c,
          size.h,
          size.w};
}

// Row-major, in host memory.
std::vector<float> download(const ActivationView& view, cudaStream_t stream) {
  const Extents& size = view.size;
  std::vector<float> values(
      static_cast<std::size_t>(element_count({size.n, size.c, size.h, size.w})));
  const DeviceBuffer<float> buffer(values.size());
  convert(view, {buffer.get(), row_major(Precision::f32), size}, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaMemcpy(values.data(), buffer.get(), buffer.bytes(), cudaMemcpyDeviceToHost));
  return values;
}

std::vector<ChosenStep> chosen_steps(const NetworkPlan& plan) {
  std::vector<ChosenStep> steps;
  for (const Candidate& step : plan.steps) {
    steps.push_back({step.reads, step.writes, step.layer != nullptr});
  }
  return steps;
}

}  // namespace

NetworkExecutor::NetworkExecutor(const Program& program, NetworkPlan plan, NetworkMemory& memory,
                                 cudaStream_t stream)
    : program_(program), plan_(std::move(plan)) {
  const auto is_same = [&](std::size_t value, std::size_t from, std::size_t to) {
    const auto& formats = plan_.formats[value];
    return is_same_memory(formats[from], formats[to], extents_of(program_.values[value].shape));
  };
  execution_ = make_execution_plan(program_, chosen_steps(plan_), plan_.conversions, is_same);
  place_buffers(memory, stream);
  for (const Candidate& step : plan_.steps) {
    if (step.layer == nullptr) continue;
    workspace_.bytes = std::max(workspace_.bytes, step.layer->workspace_bytes());
  }
  workspace_.data = memory.workspace.take(workspace_.bytes);
}

const ActivationFormat& NetworkExecutor::format_of(std::size_t buffer) const {
  const PlannedBuffer& planned = execution_.buffers[buffer];
  return plan_.formats[planned.value][planned.format];
}

Extents NetworkExecutor::size_of(std::size_t buffer) const {
  return extents_of(program_.values[execution_.buffers[buffer].value].shape);
}

// One arena per key, that without zeros shared with other networks; the input has its own memory.
void NetworkExecutor::place_buffers(NetworkMemory& memory, cudaStream_t stream) {
  std::map<ArenaKey, std::vector<std::size_t>> sharing;
  for (std::size_t i = 0; i < execution_.buffers.size(); ++i) {
    if (memory_of(execution_, i) != i || i == execution_.input) continue;
    sharing[arena_key(format_of(i), size_of(i))].push_back(i);
  }
  data_.resize(execution_.buffers.size());
  data_[execution_.input] = place_input(memory, stream);
  for (const auto& [key, buffers] : sharing) {
    place_arena(buffers, key == ArenaKey{} ? &memory.values : nullptr, stream);
  }
  for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = data_[memory_of(execution_, i)];
}

// Zeros around it stay zeros only in memory of its own; without such it is shared.
std::byte* NetworkExecutor::place_input(NetworkMemory& memory, cudaStream_t stream) {
  const ActivationFormat& format = format_of(execution_.input);
  const auto bytes = static_cast<std::size_t>(bytes_of(format, size_of(execution_.input)));
  const bool is_shared = format == row_major(Precision::f32);
  if (!is_shared) own_.emplace_back(bytes);
  std::byte* data = is_shared ? memory.input.take(bytes) : own_.back().get();
  if (data != nullptr) CUDA_CHECK(cudaMemsetAsync(data, 0, bytes, stream));
  return data;
}

void NetworkExecutor::place_arena(const std::vector<std::size_t>& buffers, SharedMemory* shared,
                                  cudaStream_t stream) {
  std::vector<Lifetime> lifetimes;
  for (const std::size_t i : buffers) {
    const PlannedBuffer& buffer = execution_.buffers[i];
    lifetimes.push_back(
        {bytes_of(format_of(i), size_of(i)), buffer.first_operation, buffer.last_operation});
  }
  const MemoryPlan placed = plan_memory(lifetimes);
  const auto bytes = static_cast<std::size_t>(placed.total_bytes);
  std::byte* base = nullptr;
  if (shared != nullptr) {
    base = shared->take(bytes);
  } else {
    own_.emplace_back(bytes);
    base = own_.back().get();
  }
  // Zeros make halos and padding channels.
  if (base != nullptr) CUDA_CHECK(cudaMemsetAsync(base, 0, bytes, stream));
  for (std::size_t i = 0; i < buffers.size(); ++i) data_[buffers[i]] = base + placed.offsets[i];
}

ActivationView NetworkExecutor::view(std::size_t buffer) const {
  if (format_of(buffer).is_deferred) return view(execution_.buffers[buffer].alias_of);
  return plan_.orders.view(data_[buffer], format_of(buffer), size_of(buffer));
}

void NetworkExecutor::enqueue_operation(const PlannedOperation& operation,
                                        cudaStream_t stream) const {
  if (operation.is_conversion) {
    convert(view(operation.in[0]), view(operation.out), stream);
    return;
  }
  std::vector<ActivationView> in;
  for (const std::size_t buffer : operation.in) in.push_back(view(buffer));
  plan_.steps[operation.step].layer->launch(in, view(operation.out), workspace_, stream);
}

void NetworkExecutor::enqueue(cudaStream_t stream) const {
  for (const PlannedOperation& operation : execution_.operations) {
    enqueue_operation(operation, stream);
  }
}

bool NetworkExecutor::reads_input(const PlannedOperation& operation) const {
  return std::ranges::any_of(
      operation.in, [&](std::size_t buffer) { return data_[buffer] == data_[execution_.input]; });
}

bool NetworkExecutor::reads_bytes() const {
  if (data_[execution_.output] == data_[execution_.input]) return false;
  return std::ranges::all_of(execution_.operations, [&](const PlannedOperation& operation) {
    if (!reads_input(operation)) return true;
    return !operation.is_conversion && operation.in.size() == 1 &&
           plan_.steps[operation.step].layer->reads_bytes();
  });
}

void NetworkExecutor::enqueue_on_bytes(const std::uint8_t* bytes, cudaStream_t stream) const {
  for (const PlannedOperation& operation : execution_.operations) {
    if (reads_input(operation)) {
      plan_.steps[operation.step].layer->launch_on_bytes(bytes, view(operation.out), stream);
    } else {
      enqueue_operation(operation, stream);
    }
  }
}

bool NetworkExecutor::is_free(std::size_t i) const {
  return std::ranges::none_of(execution_.operations, [&](const PlannedOperation& operation) {
    return operation.step == i;
  });
}

void NetworkExecutor::enqueue_step(std::size_t i, cudaStream_t stream) const {
  for (const PlannedOperation& operation : execution_.operations) {
    if (operation.step == i) enqueue_operation(operation, stream);
  }
}

std::vector<std::vector<float>> NetworkExecutor::step_values(cudaStream_t stream) const {
  std::vector<std::vector<float>> values;
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    enqueue_step(i, stream);
    const std::size_t buffer = execution_.step_outputs[i];
    values.emplace_back();
    if (!format_of(buffer).is_deferred) values.back() = download(view(buffer), stream);
  }
  return values;
}

}  // namespace winnow
