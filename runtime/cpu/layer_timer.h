// Short measurements of layers and conversions on random input.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/aligned_buffer.h"
#include "runtime/cpu/layer.h"

namespace winnow {

// Milliseconds of each of up to `repeats` runs of `work`, after one that is not counted; stops when
// `budget_ms` are spent, but not before one counted run.
std::vector<double> time_runs(int repeats, double budget_ms, const std::function<void()>& work);

class LayerTimer {
 public:
  explicit LayerTimer(ThreadPool& pool) : pool_(pool) {}

  // Median milliseconds; of a layer that takes several times `best_ms`, of its first run only.
  double time(CpuLayer& layer, const ConvShape& shape, double best_ms);

  // Measured once for each extent and pair of layouts.
  double time(const LayoutConversion& conversion);

 private:
  void reserve(std::int64_t input, std::int64_t output, std::int64_t scratch);

  ThreadPool& pool_;
  AlignedBuffer input_, output_, scratch_;
  std::map<std::string, double> conversions_;
};

}  // namespace winnow
