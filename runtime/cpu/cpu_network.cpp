#include "runtime/cpu/cpu_network.h"

#include <algorithm>

#include "runtime/plan/memory.h"

namespace winnow {
namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);

}  // namespace

PointwiseStep pointwise_step(const Program& program, const Step& step,
                             std::span<const float> table) {
  const Shape& first = program.values[step.inputs[0]].shape;
  PointwiseStep result{step.op,      step.has_relu,
                       {},           extents_of(program.values[step.output].shape),
                       first.back(), table};
  for (const std::size_t input : step.inputs) {
    result.inputs.push_back(extents_of(program.values[input].shape));
  }
  return result;
}

LayoutPlan plan_network_layouts(const Program& program, std::span<const LayerPointer> layers) {
  return plan_layouts(program, [&](std::size_t index, const Layout& offered) -> StepLayouts {
    if (layers[index]) return {layers[index]->input_layout, layers[index]->output_layout};
    const PointwiseStep step = pointwise_step(program, program.steps[index], {});
    const Layout layout = pointwise_layout(step, offered);
    return {layout, simplest(layout, step.output)};
  });
}

CpuNetwork::CpuNetwork(const Program& program, std::vector<LayerPointer> layers,
                       const std::vector<std::vector<float>>& tables)
    : layers_(std::move(layers)), plan_(plan_network_layouts(program, layers_)) {
  for (const Value& value : program.values) extents_.push_back(extents_of(value.shape));
  make_pointwise_layers(program, tables);
  place_buffers();
}

void CpuNetwork::make_pointwise_layers(const Program& program,
                                       const std::vector<std::vector<float>>& tables) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i]) continue;
    // The first input's layout is that of the buffer that it is read from.
    const Layout layout = plan_.buffers[plan_.inputs[i][0]].layout;
    layers_[i] = make_pointwise_layer(pointwise_step(program, program.steps[i], tables[i]), layout);
  }
}

void CpuNetwork::place_buffers() {
  const std::size_t end = layers_.size();  // the time of the last conversion
  std::vector<Lifetime> lives(plan_.buffers.size() + 1);
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const PlannedBuffer& planned = plan_.buffers[i];
    lives[i].bytes = planes_of(planned.layout, extents_[planned.value]).count() * kFloatBytes;
  }
  const auto use = [&](std::size_t index, std::size_t step) {
    lives[index].last_step = std::max(lives[index].last_step, step);
  };
  for (std::size_t step = 0; step < end; ++step) {
    lives[plan_.outputs[step]].first_step = step;
    use(plan_.outputs[step], step);
    for (const std::size_t input : plan_.inputs[step]) use(input, step);
  }
  for (const PlannedConversion& conversion : plan_.conversions) {
    lives[conversion.to].first_step = conversion.step;
    use(conversion.to, conversion.step);
    use(conversion.from, conversion.step);
  }
  lives[plan_.network_input] = {lives[plan_.network_input].bytes, 0, end};
  use(plan_.network_output, end);

  std::int64_t scratch = 0;
  for (const LayerPointer& layer : layers_) scratch = std::max(scratch, layer->scratch_floats());
  lives.back() = {scratch * kFloatBytes, 0, end};
  const MemoryPlan memory = plan_memory(lives);
  for (const std::int64_t offset : memory.offsets) offsets_.push_back(offset / kFloatBytes);
  scratch_offset_ = offsets_.back();
  arena_ = AlignedBuffer(memory.total_bytes / kFloatBytes);
}

std::span<float> CpuNetwork::input() {
  const std::size_t index = plan_.network_input;
  const auto count = static_cast<std::size_t>(extents_[plan_.buffers[index].value].count());
  return {buffer(index), count};
}

std::span<float> CpuNetwork::output() {
  const std::size_t index = plan_.network_output;
  const auto count = static_cast<std::size_t>(extents_[plan_.buffers[index].value].count());
  return {buffer(index), count};
}

void CpuNetwork::run(ThreadPool& pool) {
  if (layers_.empty()) run_conversions(0, pool);
  for (std::size_t step = 0; step < layers_.size(); ++step) run_step(step, pool);
}

void CpuNetwork::run_step(std::size_t step, ThreadPool& pool) {
  run_conversions(step, pool);
  std::vector<const float*> inputs;
  for (const std::size_t input : plan_.inputs[step]) inputs.push_back(buffer(input));
  layers_[step]->run({inputs, buffer(plan_.outputs[step]), arena_.data() + scratch_offset_}, pool);
  if (step + 1 == layers_.size()) run_conversions(step + 1, pool);
}

void CpuNetwork::run_conversions(std::size_t step, ThreadPool& pool) {
  for (const PlannedConversion& planned : plan_.conversions) {
    if (planned.step != step) continue;
    const PlannedBuffer& from = plan_.buffers[planned.from];
    const PlannedBuffer& to = plan_.buffers[planned.to];
    convert({extents_[from.value], from.layout, to.layout}, buffer(planned.from),
            buffer(planned.to), pool);
  }
}

std::vector<float> CpuNetwork::step_output(std::size_t step, ThreadPool& pool) {
  const std::size_t index = plan_.outputs[step];
  const PlannedBuffer& written = plan_.buffers[index];
  const Extents& extent = extents_[written.value];
  std::vector<float> values(static_cast<std::size_t>(extent.count()));
  convert({extent, written.layout, Layout{}}, buffer(index), values.data(), pool);
  return values;
}

}  // namespace winnow
