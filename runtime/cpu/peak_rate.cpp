#include "runtime/cpu/peak_rate.h"

#include <algorithm>
#include <vector>

#include "runtime/base/wall_clock.h"
#include "runtime/cpu/cpu_features.h"

namespace winnow {
namespace {

constexpr int kRounds = 40;
constexpr double kRoundMultiplyAdds = 4e6;  // of a thread: about 50 us
constexpr double kMargin = 1.25;

// The taps inside the input that all outputs along an axis see together.
double taps_inside(const ConvShape& shape, int axis) {
  std::int64_t taps = 0;
  for (const BorderSpan& span : border_spans(shape, axis)) {
    taps += (span.end - span.begin) * (span.last - span.first);
  }
  return static_cast<double>(taps);
}

}  // namespace

double dense_multiply_adds(const ConvShape& shape) {
  const auto pairs = static_cast<double>(shape.in.n * shape.out.c * shape.group_channels());
  return pairs * taps_inside(shape, 0) * taps_inside(shape, 1);
}

bool knows_peak_rate() {
  return available_isas().back() != Isa::baseline;
}

Timing time_multiply_adds(ThreadPool& pool) {
  const MicroKernels& kernels = micro_kernels(available_isas().back());
  const double of_round = static_cast<double>(kernels.chains) * kernels.lanes;
  const auto rounds = static_cast<std::int64_t>(kRoundMultiplyAdds / of_round);
  const double shared_out =
      kTimedMultiplyAdds / (of_round * static_cast<double>(rounds)) / pool.threads();
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<double> ms(static_cast<std::size_t>(pool.threads()));
    pool.run([&](int share) {
      float values[] = {0.5f, 1};
      ms[static_cast<std::size_t>(share)] = run_ms([&] { kernels.chain(rounds, values); });
    });
    times.push_back(*std::ranges::min_element(ms) * shared_out);
  }
  return timing_of(times);
}

bool may_win(double least_ms, double best_ms) {
  return least_ms <= kMargin * best_ms;
}

}  // namespace winnow
