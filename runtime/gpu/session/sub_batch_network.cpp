#include "runtime/gpu/session/sub_batch_network.h"

#include <algorithm>
#include <utility>

#include "runtime/plan/network_cut.h"

namespace winnow {
namespace {

const ActivationFormat& written_format(const PlannedProgram& planned, std::size_t step) {
  const std::size_t value = planned.program.steps[step].output;
  return planned.plan.formats[value][planned.plan.steps[step].writes];
}

// Whether pieces of a value, each of `part` samples, lie one behind the other in the whole.
bool lies_in_pieces(const ActivationFormat& format, std::int64_t part) {
  return !format.is_deferred && part % packed_images(format.layout) == 0;
}

// Orders of channels have numbers of their own in each plan.
bool is_same_order(const PlannedProgram& a, const PlannedProgram& b, const ActivationFormat& in_a,
                   const ActivationFormat& in_b) {
  return a.plan.orders.places(in_a.order) == b.plan.orders.places(in_b.order);
}

// Exchanges two formats of a value wherever the plan names them.
void swap_formats(PlannedProgram& planned, std::size_t value, std::size_t a, std::size_t b) {
  const auto exchange = [&](std::size_t& format) {
    format = format == a ? b : format == b ? a : format;
  };
  std::swap(planned.plan.formats[value][a], planned.plan.formats[value][b]);
  for (std::size_t i = 0; i < planned.program.steps.size(); ++i) {
    const Step& step = planned.program.steps[i];
    for (std::size_t j = 0; j < step.inputs.size(); ++j) {
      if (step.inputs[j] == value) exchange(planned.plan.steps[i].reads[j]);
    }
    if (step.output == value) exchange(planned.plan.steps[i].writes);
  }
  for (Conversion& conversion : planned.plan.conversions) {
    if (conversion.value != value) continue;
    exchange(conversion.from);
    exchange(conversion.to);
  }
}

std::size_t bytes_of_view(const ActivationView& view) {
  return static_cast<std::size_t>(bytes_of(view.format, view.size));
}

void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

std::byte* bytes_at(void* data, std::size_t offset) {
  return static_cast<std::byte*>(data) + offset;
}

}  // namespace

std::vector<std::size_t> possible_cuts(const PlannedProgram& part, const PlannedProgram& whole) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 1; cut < whole.program.steps.size(); ++cut) {
    ActivationFormat in_part = written_format(part, cut - 1);
    ActivationFormat in_whole = written_format(whole, cut - 1);
    if (!is_narrow(whole.program, cut) || !is_same_order(part, whole, in_part, in_whole)) continue;
    in_part.order = in_whole.order = 0;
    if (in_part == in_whole && lies_in_pieces(in_part, part.program.batch)) cuts.push_back(cut);
  }
  return cuts;
}

PlannedProgram slice(const PlannedProgram& planned, std::size_t first, std::size_t last,
                     std::size_t cut) {
  PlannedProgram sliced = planned;
  const std::size_t steps = planned.program.steps.size();
  if (cut < steps) {
    const std::size_t value = planned.program.steps[cut - 1].output;
    swap_formats(sliced, value, 0, planned.plan.steps[cut - 1].writes);
    (last == cut ? sliced.program.output : sliced.program.input) = value;
  }
  const auto cut_out = [&](auto& list) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(last), list.end());
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(first));
  };
  cut_out(sliced.program.steps);
  cut_out(sliced.plan.steps);
  std::erase_if(sliced.plan.conversions, [&](const Conversion& conversion) {
    const bool is_after = last < steps && conversion.before_step >= last;
    return conversion.before_step < first || is_after;
  });
  for (Conversion& conversion : sliced.plan.conversions) conversion.before_step -= first;
  return sliced;
}

SubBatchNetwork::SubBatchNetwork(const PlannedProgram& part, const PlannedProgram& whole,
                                 std::size_t cut, NetworkMemory& memory, cudaStream_t stream)
    : cut_(cut), runs_(whole.program.batch / part.program.batch), first_(slice(part, 0, cut, cut)) {
  const std::size_t steps = whole.program.steps.size();
  part_ = std::make_unique<NetworkExecutor>(first_.program, first_.plan, part_memory_, stream);
  const Shape& shape = whole.program.values[whole.program.input].shape;
  const auto inputs = static_cast<std::size_t>(element_count(shape));
  input_ = DeviceBuffer<float>(inputs);
  CUDA_CHECK(cudaMemsetAsync(input_.get(), 0, input_.bytes(), stream));
  if (cut == steps) {
    const Shape& results = whole.program.values[whole.program.output].shape;
    output_ = DeviceBuffer<float>(static_cast<std::size_t>(element_count(results)));
    return;
  }
  last_ = slice(whole, cut, steps, cut);
  rest_ = std::make_unique<NetworkExecutor>(last_.program, last_.plan, memory, stream);
}

const float* SubBatchNetwork::output() const {
  return has_rest() ? rest_->output() : output_.get();
}

void SubBatchNetwork::copy_input(std::int64_t run, cudaStream_t stream) const {
  const std::size_t bytes = bytes_of_view(part_->input_view());
  copy(part_->input(), bytes_at(input_.get(), static_cast<std::size_t>(run) * bytes), bytes,
       stream);
}

void SubBatchNetwork::copy_output(std::int64_t run, cudaStream_t stream) const {
  const ActivationView from = part_->output_view();
  const std::size_t bytes = bytes_of_view(from);
  void* to = has_rest() ? rest_->input_view().data : output_.get();
  copy(bytes_at(to, static_cast<std::size_t>(run) * bytes), from.data, bytes, stream);
}

void SubBatchNetwork::enqueue(cudaStream_t stream) const {
  for (std::int64_t run = 0; run < runs_; ++run) {
    copy_input(run, stream);
    part_->enqueue(stream);
    copy_output(run, stream);
  }
  if (has_rest()) rest_->enqueue(stream);
}

void SubBatchNetwork::enqueue_on_bytes(const std::uint8_t* bytes, cudaStream_t stream) const {
  const std::size_t inputs = bytes_of_view(part_->input_view()) / sizeof(float);
  for (std::int64_t run = 0; run < runs_; ++run) {
    part_->enqueue_on_bytes(bytes + static_cast<std::size_t>(run) * inputs, stream);
    copy_output(run, stream);
  }
  if (has_rest()) rest_->enqueue(stream);
}

// Copies count to the steps beside them.
void SubBatchNetwork::enqueue_step(std::size_t i, cudaStream_t stream) const {
  if (i >= cut_) return rest_->enqueue_step(i - cut_, stream);
  for (std::int64_t run = 0; run < runs_; ++run) {
    if (i == 0) copy_input(run, stream);
    part_->enqueue_step(i, stream);
    if (i + 1 == cut_) copy_output(run, stream);
  }
}

bool SubBatchNetwork::is_free(std::size_t i) const {
  if (i >= cut_) return rest_->is_free(i - cut_);
  return i > 0 && i + 1 < cut_ && part_->is_free(i);
}

std::vector<std::vector<float>> SubBatchNetwork::step_values(cudaStream_t stream) const {
  std::vector<std::vector<float>> values(cut_);
  for (std::int64_t run = 0; run < runs_; ++run) {
    copy_input(run, stream);
    const std::vector<std::vector<float>> own = part_->step_values(stream);
    for (std::size_t i = 0; i < cut_; ++i) {
      values[i].insert(values[i].end(), own[i].begin(), own[i].end());
    }
    copy_output(run, stream);
  }
  if (!has_rest()) return values;
  for (std::vector<float>& value : rest_->step_values(stream)) values.push_back(std::move(value));
  return values;
}

}  // namespace winnow
