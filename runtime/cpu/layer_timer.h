// Short measurements of layers and conversions, after a look at what the layers compute.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/aligned_buffer.h"
#include "runtime/cpu/layer.h"
#include "runtime/plan/layer_check.h"
#include "runtime/plan/timing_table.h"

namespace winnow {

// Runs something once and returns the milliseconds that it took.
using TimedRun = std::function<double()>;

// Milliseconds of each of up to `repeats` runs, after one that is not counted; stops when
// `budget_ms` are spent, but not before one counted run.
std::vector<double> time_runs(int repeats, double budget_ms, const TimedRun& run);

// A layer of a step, and what is known of the step.
struct TimedLayer {
  CpuLayer& layer;
  const ConvShape& shape;
  const std::string& step;                   // its key
  std::function<const LayerCheck&()> check;  // called if the layer is not known yet; may be empty
};

// Measures what is the same once.
class LayerTimer {
 public:
  LayerTimer(ThreadPool& pool, TimingTable& table) : pool_(pool), table_(table) {}

  // The layer's times; fewer of one that takes clearly longer than `best_ms`. It is rejected if it
  // computes something else than the step's check expects.
  const Timing& time(const TimedLayer& timed, double best_ms);

  // Median milliseconds.
  double time(const LayoutConversion& conversion);

 private:
  // A buffer of noise, and what it holds it as.
  struct Noise {
    AlignedBuffer buffer;
    Layout layout;
    Extents extent = {0, 0, 0, 0};
  };

  void reserve(std::int64_t input, std::int64_t output, std::int64_t scratch);
  void fill(Noise& to, const Layout& layout, const Extents& extent);
  void forget_output(std::int64_t floats);
  void evict(std::int64_t floats);
  std::vector<float> outputs_at(const std::vector<std::int64_t>& positions, const Layout& layout,
                                const Extents& extent);
  std::vector<double> times(const std::function<void()>& work, std::int64_t evicted, int repeats,
                            double best_ms);

  Timing measure(const TimedLayer& timed, double best_ms);
  Timing measure(const LayoutConversion& conversion);

  ThreadPool& pool_;
  TimingTable& table_;
  Noise input_, addend_;
  AlignedBuffer output_, scratch_;
  AlignedBuffer
      noise_;  // the input of checks, row-major; the beginning of it is that of smaller ones
  AlignedBuffer evictor_;  // what the caches hold instead
};

}  // namespace winnow
