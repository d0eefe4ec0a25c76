// Short measurements of layers and conversions on random input.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/aligned_buffer.h"
#include "runtime/cpu/layer.h"
#include "runtime/plan/timing_table.h"

namespace winnow {

// Milliseconds of each of up to `repeats` runs of `work`, after one that is not counted; stops when
// `budget_ms` are spent, but not before one counted run.
std::vector<double> time_runs(int repeats, double budget_ms, const std::function<void()>& work);

// Measures what is the same once.
class LayerTimer {
 public:
  explicit LayerTimer(ThreadPool& pool) : pool_(pool) {}

  // Median milliseconds of the step that `step` names; of a layer that takes several times
  // `best_ms`, of its first run only.
  double time(CpuLayer& layer, const ConvShape& shape, const std::string& step, double best_ms);

  double time(const LayoutConversion& conversion);

 private:
  void reserve(std::int64_t input, std::int64_t output, std::int64_t scratch);

  double measure(CpuLayer& layer, const ConvShape& shape, double best_ms);
  double measure(const LayoutConversion& conversion);
  std::vector<double> time_cold_runs(const std::function<void()>& work);

  ThreadPool& pool_;
  TimingTable table_;
  AlignedBuffer input_, addend_, output_, scratch_, evicted_;
};

}  // namespace winnow
