// A program with a layer for every step, ready to run.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/base/aligned_buffer.h"
#include "runtime/cpu/cpu_plan.h"
#include "runtime/cpu/pointwise_layer.h"
#include "runtime/cpu/runnable_network.h"
#include "runtime/plan/execution_plan.h"
#include "runtime/plan/program.h"

namespace winnow {

// How `step` of the program looks to pointwise_layer.h; `table` is an embedding's weight, else
// empty.
PointwiseStep pointwise_step(const Program& program, const Step& step,
                             std::span<const float> table);

class CpuNetwork final : public RunnableNetwork {
 public:
  // tables  [steps] embeddings' weights
  CpuNetwork(const Program& program, const CpuPlan& plan,
             const std::vector<std::vector<float>>& tables);

  const std::vector<LayerPointer>& layers() const { return layers_; }  // of all steps

  std::span<float> input() override;
  std::span<float> output() override;
  void run(ThreadPool& pool) override;
  void run_step(std::size_t step, ThreadPool& pool) override;
  std::vector<std::vector<float>> step_outputs(ThreadPool& pool) override;

  // All floats of the input and output in the first of their layouts, gaps included.
  std::span<float> whole_input() { return whole_buffer(execution_.input); }
  std::span<float> whole_output() { return whole_buffer(execution_.output); }

  // The output of the step that ran last, row-major; empty of a deferred one.
  std::vector<float> step_output(std::size_t step, ThreadPool& pool);

 private:
  void place_buffers();
  void run_operation(const PlannedOperation& operation, ThreadPool& pool);
  float* buffer(std::size_t index) { return arena_.data() + offsets_[index]; }
  std::span<float> nchw_buffer(std::size_t index);
  std::span<float> whole_buffer(std::size_t index);

  std::vector<LayerPointer> layers_;
  ExecutionPlan execution_;
  std::vector<Extents> extents_;       // by buffer
  std::vector<Layout> layouts_;        // by buffer
  std::vector<std::int64_t> offsets_;  // by buffer, in floats
  std::int64_t scratch_offset_ = 0;
  AlignedBuffer arena_;
};

}  // namespace winnow
