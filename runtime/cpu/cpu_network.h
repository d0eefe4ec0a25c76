// A program with a layer for every step, ready to run.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/aligned_buffer.h"
#include "runtime/cpu/layer.h"
#include "runtime/cpu/layout_plan.h"
#include "runtime/cpu/pointwise_layer.h"
#include "runtime/plan/program.h"

namespace winnow {

using LayerPointer = std::shared_ptr<CpuLayer>;

// How `step` of the program looks to pointwise_layer.h; `table` is an embedding's weight, else
// empty.
PointwiseStep pointwise_step(const Program& program, const Step& step,
                             std::span<const float> table);

// Layouts that follow from the layers of conv and linear steps (null for all other steps).
LayoutPlan plan_network_layouts(const Program& program, std::span<const LayerPointer> layers);

class CpuNetwork {
 public:
  // layers  [steps] those of conv and linear steps; null for the others
  // tables  [steps] embeddings' weights
  CpuNetwork(const Program& program, std::vector<LayerPointer> layers,
             const std::vector<std::vector<float>>& tables);

  const std::vector<LayerPointer>& layers() const { return layers_; }  // pointwise ones included
  std::span<float> input();   // planar, kept from run to run
  std::span<float> output();  // planar, valid after run()

  // All steps; or one step with the conversions before it (after it too, for the last).
  void run(ThreadPool& pool);
  void run_step(std::size_t step, ThreadPool& pool);

  // The output of the step that ran last, row-major.
  std::vector<float> step_output(std::size_t step, ThreadPool& pool);

 private:
  void make_pointwise_layers(const Program& program, const std::vector<std::vector<float>>& tables);
  void place_buffers();
  void run_conversions(std::size_t step, ThreadPool& pool);
  float* buffer(std::size_t index) { return arena_.data() + offsets_[index]; }

  std::vector<LayerPointer> layers_;
  LayoutPlan plan_;
  std::vector<Extents> extents_;       // by value
  std::vector<std::int64_t> offsets_;  // by buffer, in floats
  std::int64_t scratch_offset_ = 0;
  AlignedBuffer arena_;
};

}  // namespace winnow
