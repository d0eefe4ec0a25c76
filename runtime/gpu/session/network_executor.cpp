#include "runtime/gpu/session/network_executor.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/gpu/layer/family_list.h"
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

}  // namespace

NetworkExecutor::NetworkExecutor(const Program& program, NetworkPlan plan, GpuContext& gpu)
    : program_(program), plan_(std::move(plan)), step_slots_(program.steps.size()) {
  const Shape& shape = program_.values[program_.input].shape;
  input_ = DeviceBuffer<float>(static_cast<std::size_t>(element_count(shape)));
  input_slot_ = slot_of(program_.input, 0);
  add_operations();
  place_slots(gpu.stream());
  std::size_t workspace = 0;
  for (const Candidate& step : plan_.steps) {
    if (step.layer != nullptr) workspace = std::max(workspace, step.layer->workspace_bytes());
  }
  workspace_ = DeviceBuffer<std::byte>(workspace);
}

std::size_t NetworkExecutor::slot_of(std::size_t value, std::size_t format) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].value == value && slots_[i].format == format) return i;
  }
  Slot slot{.value = value, .format = format};
  slot.alias_of = slots_.size();
  slot.first_op = slot.last_op = operations_.size();
  slots_.push_back(slot);
  return slots_.size() - 1;
}

std::size_t NetworkExecutor::root(std::size_t slot) const {
  while (slots_[slot].alias_of != slot) slot = slots_[slot].alias_of;
  return slot;
}

std::size_t NetworkExecutor::use(std::size_t value, std::size_t format) {
  const std::size_t slot = slot_of(value, format);
  slots_[root(slot)].last_op = operations_.size();
  return slot;
}

void NetworkExecutor::add_conversion(const Conversion& conversion) {
  const Extents size = extents_of(program_.values[conversion.value].shape);
  const auto& formats = plan_.formats[conversion.value];
  const std::size_t from = use(conversion.value, conversion.from);
  const std::size_t to = use(conversion.value, conversion.to);
  if (is_same_memory(formats[conversion.from], formats[conversion.to], size)) {
    slots_[to].alias_of = from;
    return;
  }
  const std::size_t last_step = program_.steps.empty() ? 0 : program_.steps.size() - 1;
  operations_.push_back({nullptr, {from}, to, std::min(conversion.before_step, last_step)});
}

void NetworkExecutor::add_step(std::size_t index) {
  const Step& step = program_.steps[index];
  const Candidate& chosen = plan_.steps[index];
  Operation operation{chosen.layer.get(), {}, 0, index};
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    operation.in.push_back(use(step.inputs[i], chosen.reads[i]));
  }
  operation.out = use(step.output, chosen.writes);
  step_slots_[index] = operation.out;
  if (chosen.layer == nullptr) {
    slots_[operation.out].alias_of = operation.in[0];
    return;
  }
  operations_.push_back(std::move(operation));
}

void NetworkExecutor::add_operations() {
  auto conversion = plan_.conversions.begin();
  for (std::size_t i = 0; i <= program_.steps.size(); ++i) {
    for (; conversion != plan_.conversions.end() && conversion->before_step == i; ++conversion) {
      add_conversion(*conversion);
    }
    if (i < program_.steps.size()) add_step(i);
  }
  output_slot_ = use(program_.output, 0);  // read after the last operation
}

// One arena per key; the network's input has its own memory.
void NetworkExecutor::place_slots(cudaStream_t stream) {
  std::map<ArenaKey, std::vector<std::size_t>> sharing;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (root(i) != i || i == input_slot_) continue;
    const ActivationFormat& format = plan_.formats[slots_[i].value][slots_[i].format];
    sharing[arena_key(format, extents_of(program_.values[slots_[i].value].shape))].push_back(i);
  }
  slots_[input_slot_].data = reinterpret_cast<std::byte*>(input_.get());
  for (const auto& [key, slots] : sharing) place_arena(slots, stream);
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].data = slots_[root(i)].data;
}

void NetworkExecutor::place_arena(const std::vector<std::size_t>& slots, cudaStream_t stream) {
  std::vector<Lifetime> lifetimes;
  for (const std::size_t i : slots) {
    const ActivationFormat& format = plan_.formats[slots_[i].value][slots_[i].format];
    const Extents size = extents_of(program_.values[slots_[i].value].shape);
    lifetimes.push_back({bytes_of(format, size), slots_[i].first_op, slots_[i].last_op});
  }
  const MemoryPlan memory = plan_memory(lifetimes);
  arenas_.emplace_back(static_cast<std::size_t>(memory.total_bytes));
  std::byte* base = arenas_.back().get();
  // Zeros make halos, padding channels, and lanes of packed images beyond the last that are no NaN.
  if (base != nullptr) CUDA_CHECK(cudaMemsetAsync(base, 0, arenas_.back().bytes(), stream));
  for (std::size_t i = 0; i < slots.size(); ++i) slots_[slots[i]].data = base + memory.offsets[i];
}

ActivationView NetworkExecutor::view(std::size_t slot) const {
  if (plan_.formats[slots_[slot].value][slots_[slot].format] == kDeferred) {
    return view(slots_[slot].alias_of);
  }
  const Slot& s = slots_[slot];
  return {s.data, plan_.formats[s.value][s.format], extents_of(program_.values[s.value].shape)};
}

const float* NetworkExecutor::output() const {
  return reinterpret_cast<const float*>(slots_[output_slot_].data);
}

bool NetworkExecutor::is_deferred(std::size_t i) const {
  const Slot& slot = slots_[step_slots_[i]];
  return plan_.formats[slot.value][slot.format] == kDeferred;
}

ActivationView NetworkExecutor::step_output(std::size_t i) const {
  return view(step_slots_[i]);
}

void NetworkExecutor::enqueue_operation(const Operation& operation, cudaStream_t stream) const {
  if (operation.layer == nullptr) {
    convert(view(operation.in[0]), view(operation.out), stream);
    return;
  }
  std::vector<ActivationView> in;
  for (const std::size_t slot : operation.in) in.push_back(view(slot));
  operation.layer->launch(in, view(operation.out), {workspace_.get(), workspace_.bytes()}, stream);
}

void NetworkExecutor::enqueue(cudaStream_t stream) const {
  for (const Operation& operation : operations_) enqueue_operation(operation, stream);
}

bool NetworkExecutor::is_free(std::size_t i) const {
  return std::none_of(operations_.begin(), operations_.end(),
                      [&](const Operation& operation) { return operation.step == i; });
}

void NetworkExecutor::enqueue_step(std::size_t i, cudaStream_t stream) const {
  for (const Operation& operation : operations_) {
    if (operation.step == i) enqueue_operation(operation, stream);
  }
}

}  // namespace winnow
