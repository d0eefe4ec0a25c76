// What a session wants of measured times, and what it took.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/plan/timing_cache.h"

namespace winnow {

// What a session's times are kept in besides memory.
struct TimingStore {
  std::shared_ptr<TimingCache> cache = nullptr;  // may be null
  bool wants_cold = false;  // kernels' times without Timing::cold_ms are measured again
  bool is_renewed = false;  // what the cache has is measured again and replaced

  // All candidates are made and told (LayerPlan::candidates), even where the cache knows which was
  // chosen. Without, only that is made: a start takes a fraction of the time.
  bool lists_candidates = false;
};

// How many times a session was planned with.
struct TimingCounts {
  std::size_t measured = 0;  // by itself
  std::size_t cached = 0;    // that it took from the cache
};

}  // namespace winnow
