#include "runtime/cpu/cpu_network.h"

#include <algorithm>

#include "runtime/cpu/fused_steps.h"
#include "runtime/plan/memory.h"

namespace winnow {
namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);

}  // namespace

PointwiseStep pointwise_step(const Program& program, const Step& step,
                             std::span<const float> table) {
  const Shape& first = program.values[step.inputs[0]].shape;
  PointwiseStep pointwise{step.op,      step.has_relu,
                          {},           extents_of(program.values[step.output].shape),
                          first.back(), table};
  for (const std::size_t input : step.inputs) {
    pointwise.inputs.push_back(extents_of(program.values[input].shape));
  }
  return pointwise;
}

CpuNetwork::CpuNetwork(const Program& program, const CpuPlan& plan,
                       const std::vector<std::vector<float>>& tables) {
  std::vector<ChosenStep> steps;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const CpuStepPlan& step = plan.steps[i];
    steps.push_back({step.reads, step.writes, !(step.layer && step.layer->is_deferred)});
    layers_.push_back(step.layer
                          ? step.layer
                          : make_pointwise_layer(
                                pointwise_step(program, program.steps[i], tables[i]), step.layout));
  }
  // Layouts of equal memory have one name (`simplest`), so no two formats share theirs.
  execution_ = make_execution_plan(program, steps, plan.conversions,
                                   [](std::size_t, std::size_t, std::size_t) { return false; });
  for (const PlannedBuffer& buffer : execution_.buffers) {
    extents_.push_back(extents_of(program.values[buffer.value].shape));
    layouts_.push_back(plan.layouts[buffer.value][buffer.format]);
  }
  place_buffers();
}

void CpuNetwork::place_buffers() {
  const std::size_t end = execution_.operations.size();
  std::vector<Lifetime> lives;
  for (std::size_t i = 0; i < execution_.buffers.size(); ++i) {
    const PlannedBuffer& buffer = execution_.buffers[i];
    const bool has_memory = buffer.alias_of == i;
    const std::int64_t floats = has_memory ? planes_of(layouts_[i], extents_[i]).count() : 0;
    lives.push_back({floats * kFloatBytes, buffer.first_operation, buffer.last_operation});
  }
  lives[execution_.input].first_operation = 0;  // kept from run to run
  lives[execution_.input].last_operation = end;
  std::int64_t scratch = 0;
  for (const LayerPointer& layer : layers_) scratch = std::max(scratch, layer->scratch_floats());
  lives.push_back({scratch * kFloatBytes, 0, end});
  const MemoryPlan memory = plan_memory(lives);
  for (const std::int64_t offset : memory.offsets) offsets_.push_back(offset / kFloatBytes);
  for (std::size_t i = 0; i < execution_.buffers.size(); ++i) {
    offsets_[i] = offsets_[memory_of(execution_, i)];
  }
  scratch_offset_ = offsets_.back();
  arena_ = AlignedBuffer(memory.total_bytes / kFloatBytes);
}

std::span<float> CpuNetwork::nchw_buffer(std::size_t index) {
  return {buffer(index), static_cast<std::size_t>(extents_[index].count())};
}

std::span<float> CpuNetwork::whole_buffer(std::size_t index) {
  return {buffer(index),
          static_cast<std::size_t>(planes_of(layouts_[index], extents_[index]).count())};
}

std::span<float> CpuNetwork::input() {
  return nchw_buffer(execution_.input);
}

std::span<float> CpuNetwork::output() {
  return nchw_buffer(execution_.output);
}

void CpuNetwork::run(ThreadPool& pool) {
  for (const PlannedOperation& operation : execution_.operations) run_operation(operation, pool);
}

void CpuNetwork::run_step(std::size_t step, ThreadPool& pool) {
  for (const PlannedOperation& operation : execution_.operations) {
    if (operation.step == step) run_operation(operation, pool);
  }
}

// The arena gives a value's memory to later ones, so the steps run one by one.
std::vector<std::vector<float>> CpuNetwork::step_outputs(ThreadPool& pool) {
  std::vector<std::vector<float>> outputs;
  for (std::size_t step = 0; step < layers_.size(); ++step) {
    run_step(step, pool);
    outputs.push_back(step_output(step, pool));
  }
  return outputs;
}

void CpuNetwork::run_operation(const PlannedOperation& operation, ThreadPool& pool) {
  const std::size_t first = operation.in[0], out = operation.out;
  if (operation.is_conversion) {
    convert({extents_[first], layouts_[first], layouts_[out]}, buffer(first), buffer(out), pool);
    return;
  }
  std::vector<const float*> inputs;
  for (const std::size_t input : operation.in) inputs.push_back(buffer(input));
  // Code of two steps reads the deferred one's input first.
  const auto is_deferred = [&](std::size_t i) { return layouts_[i] == kDeferredLayout; };
  if (operation.in.size() == 2 && is_deferred(operation.in[1])) std::swap(inputs[0], inputs[1]);
  layers_[operation.step]->run({inputs, buffer(out), arena_.data() + scratch_offset_}, pool);
}

std::vector<float> CpuNetwork::step_output(std::size_t step, ThreadPool& pool) {
  const std::size_t index = execution_.step_outputs[step];
  if (layouts_[index] == kDeferredLayout) return {};
  std::vector<float> values(static_cast<std::size_t>(extents_[index].count()));
  convert({extents_[index], layouts_[index], Layout{}}, buffer(index), values.data(), pool);
  return values;
}

}  // namespace winnow
