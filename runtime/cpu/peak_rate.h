// How fast multiply-adds go here at best, and what that says of a layer before it is made.
#pragma once

#include "runtime/base/thread_pool.h"
#include "runtime/cpu/conv_shape.h"
#include "runtime/plan/timing.h"

namespace winnow {

// Of a layer that skips no weight. What falls on padding does not count: a kernel may leave it out.
double dense_multiply_adds(const ConvShape& shape);

// Whether time_multiply_adds() uses the widest vectors that this processor has, as libraries do: on
// x86 with AVX2 at least.
bool knows_peak_rate();

inline constexpr double kTimedMultiplyAdds = 1e9;

// Milliseconds of kTimedMultiplyAdds multiply-adds, shared out to all threads of the pool, on
// registers alone: no layer that does them takes less. `min_ms` is by the fastest thread in the
// fastest round.
Timing time_multiply_adds(ThreadPool& pool);

// Whether a layer may still turn out the fastest that takes `least_ms` at best, beside one of
// `best_ms`. The margin is for clocks that change between the two times.
bool may_win(double least_ms, double best_ms);

}  // namespace winnow
