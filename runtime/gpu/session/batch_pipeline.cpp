#include "runtime/gpu/session/batch_pipeline.h"

#include <algorithm>

namespace winnow {
namespace {

void copy(float* to, const float* from, std::size_t floats, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, floats * sizeof(float), cudaMemcpyDefault, stream));
}

}  // namespace

BatchPipeline::BatchPipeline(std::size_t inputs, std::size_t outputs) {
  for (Slot& slot : slots_) {
    slot.in = PinnedBuffer<float>(inputs);
    slot.out = PinnedBuffer<float>(outputs);
    slot.device_in = DeviceBuffer<float>(inputs);
    slot.device_out = DeviceBuffer<float>(outputs);
  }
}

void BatchPipeline::run(const SampleStream& samples, cudaStream_t stream, const Compute& compute) {
  // A run that ended in an exception may have left work behind.
  copies_in_.synchronize();
  CUDA_CHECK(cudaStreamSynchronize(stream));
  copies_out_.synchronize();
  for (Slot& slot : slots_) slot.count = 0;
  std::size_t turn = 0;
  for (std::int64_t first = 0; first < samples.samples; first += samples.batch) {
    Slot& slot = slots_[turn++ % slots_.size()];
    finish(slot, samples);
    slot.first = first;
    slot.count = std::min(samples.batch, samples.samples - first);
    begin(slot, samples, stream, compute);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) finish(slots_[turn++ % slots_.size()], samples);
}

// The slot's memory is free: its last output has been written.
void BatchPipeline::begin(Slot& slot, const SampleStream& samples, cudaStream_t stream,
                          const Compute& compute) {
  const auto inputs = static_cast<std::size_t>(slot.count * samples.input_size);
  const auto outputs = static_cast<std::size_t>(slot.count * samples.output_size);
  samples.read(slot.first, slot.in.values().first(inputs));
  copy(slot.device_in.get(), slot.in.values().data(), inputs, copies_in_.get());
  slot.copied_in.record(copies_in_.get());
  slot.copied_in.hold(stream);
  compute(slot.device_in.get(), slot.count, slot.device_out.get());
  slot.computed.record(stream);
  slot.computed.hold(copies_out_.get());
  copy(slot.out.values().data(), slot.device_out.get(), outputs, copies_out_.get());
  slot.copied_out.record(copies_out_.get());
}

void BatchPipeline::finish(Slot& slot, const SampleStream& samples) {
  if (slot.count == 0) return;
  slot.copied_out.synchronize();
  const auto outputs = static_cast<std::size_t>(slot.count * samples.output_size);
  samples.write(slot.first, slot.out.values().first(outputs));
  slot.count = 0;
}

}  // namespace winnow
