#include "runtime/cpu/layer_timer.h"

#include <algorithm>
#include <limits>

#include "runtime/base/noise.h"
#include "runtime/base/processor.h"
#include "runtime/base/wall_clock.h"

namespace winnow {
namespace {

constexpr int kRepeats = 5;
constexpr double kBudgetMs = 30;
constexpr double kConversionBudgetMs = 5;
constexpr double kClearlySlower = 1.5;  // beyond noise, and beyond what conversions make up for
constexpr int kColdRuns = 3;
constexpr std::int64_t kLineFloats = 16;
constexpr std::int64_t kPassedFloats = std::int64_t{4} << 20;    // 16 MiB: second-level caches
constexpr std::int64_t kEvictedFloats = std::int64_t{16} << 20;  // 64 MiB: all caches

// False if it was large enough.
bool grow(AlignedBuffer& buffer, std::int64_t count) {
  if (static_cast<std::int64_t>(buffer.span().size()) >= count) return false;
  buffer = AlignedBuffer();  // first free, then allocate
  buffer = AlignedBuffer(count);
  return true;
}

std::string key_of(const LayoutConversion& c) {
  const Extents& x = c.extent;
  return "convert " + to_string(c.from) + " " + to_string(c.to) + " " +
         to_string({x.n, x.c, x.h, x.w});
}

std::string key_of(const TimedLayer& timed) {
  const CpuLayer& layer = timed.layer;
  return timed.step + " | " + layer.kernel + " | f32 " + to_string(layer.input_layout) + " -> " +
         to_string(layer.output_layout);
}

}  // namespace

std::vector<double> time_runs(int repeats, double budget_ms, const TimedRun& run) {
  double spent = run();
  std::vector<double> times;
  for (int i = 0; i < repeats && (i == 0 || spent < budget_ms); ++i) {
    times.push_back(run());
    spent += times.back();
  }
  return times;
}

void LayerTimer::reserve(std::int64_t input, std::int64_t output, std::int64_t scratch) {
  if (grow(input_.buffer, input)) input_.extent = {0, 0, 0, 0};
  grow(output_, output);
  grow(scratch_, scratch);
}

void LayerTimer::fill(Noise& to, const Layout& layout, const Extents& extent) {
  if (to.layout == layout && to.extent == extent) return;
  if (grow(noise_, extent.count())) {
    const std::span<float> noise = noise_.span();
    pool_.run_ranges(extent.count(), 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        noise[static_cast<std::size_t>(i)] =
            noise_value(static_cast<std::uint32_t>(i), LayerCheck::kSeed);
      }
    });
  }
  convert({extent, Layout::nchw, layout}, noise_.data(), to.buffer.data(), pool_);
  to.layout = layout;
  to.extent = extent;
}

std::vector<float> LayerTimer::outputs_at(const std::vector<std::int64_t>& positions,
                                          const Layout& layout, const Extents& extent) {
  const std::int64_t plane = extent.h * extent.w;
  std::vector<float> found;
  for (const std::int64_t position : positions) {
    const std::int64_t channel = position / plane;  // of all images
    const std::int64_t place =
        place_of(layout, extent, channel / extent.c, channel % extent.c, position % plane);
    found.push_back(output_.span()[static_cast<std::size_t>(place)]);
  }
  return found;
}

// What a layer forgets to write is no number.
void LayerTimer::forget_output(std::int64_t floats) {
  float* const begin = output_.data();
  pool_.run_ranges(floats, 1, [&](std::int64_t first, std::int64_t last) {
    std::fill(begin + first, begin + last, std::numeric_limits<float>::quiet_NaN());
  });
}

const Timing& LayerTimer::time(const TimedLayer& timed, double best_ms) {
  return table_.get(
      key_of(timed), [&] { return measure(timed, best_ms); }, true);
}

double LayerTimer::time(const LayoutConversion& conversion) {
  return table_.get(key_of(conversion), [&] { return measure(conversion); }).median_ms;
}

void LayerTimer::evict(std::int64_t floats) {
  grow(evictor_, floats);
  float* const begin = evictor_.data();
  pool_.run_ranges(floats / kLineFloats, kLineFloats, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) begin[line * kLineFloats] += 1;
  });
}

// Of runs before each of which other data has passed through the caches, as in a network that of
// other layers.
std::vector<double> LayerTimer::times(const std::function<void()>& work, std::int64_t evicted,
                                      int repeats, double best_ms) {
  std::vector<double> times;
  double spent = 0;
  for (int i = 0; i < repeats && (i == 0 || spent < kBudgetMs); ++i) {
    evict(evicted);
    times.push_back(run_ms(work));
    spent += times.back();
    // Noise only adds: two slow runs are enough.
    if (i == 1 && std::ranges::min(times) > kClearlySlower * best_ms) break;
  }
  return times;
}

Timing LayerTimer::measure(const TimedLayer& timed, double best_ms) {
  CpuLayer& layer = timed.layer;
  const ConvShape& shape = timed.shape;
  reserve(planes_of(layer.input_layout, shape.in).count(),
          planes_of(layer.output_layout, shape.out).count(), layer.scratch_floats());
  fill(input_, layer.input_layout, shape.in);
  std::vector<const float*> inputs = {input_.buffer.data()};
  if (layer.addends > 0) {
    if (grow(addend_.buffer, planes_of(layer.output_layout, shape.out).count()))
      addend_.extent = {0, 0, 0, 0};
    fill(addend_, layer.output_layout, shape.out);
    inputs.resize(1 + static_cast<std::size_t>(layer.addends), addend_.buffer.data());
  }
  forget_output(planes_of(layer.output_layout, shape.out).count());
  const auto work = [&] { layer.run({inputs, output_.data(), scratch_.data()}, pool_); };
  const double first = run_ms(work);  // may also start threads

  if (timed.check) {
    const LayerCheck& check = timed.check();
    const std::string defect =
        check.defect(outputs_at(check.positions(), layer.output_layout, shape.out));
    if (!defect.empty()) return rejected_for(defect);
  }

  constexpr double kHopelessMs = 10, kHopeless = 2;
  const bool is_hopeless = first > kHopelessMs && first > kHopeless * best_ms;
  Timing timing =
      timing_of(is_hopeless ? std::vector{first} : times(work, kPassedFloats, kRepeats, best_ms));
  if (table_.wants_cold())
    timing.cold_ms =
        is_hopeless ? first : timing_of(times(work, kEvictedFloats, kColdRuns, best_ms)).median_ms;
  timing.clock_mhz = processor_clock_mhz();
  return timing;
}

Timing LayerTimer::measure(const LayoutConversion& conversion) {
  reserve(planes_of(conversion.from, conversion.extent).count(),
          planes_of(conversion.to, conversion.extent).count(), 0);
  const auto run = [&] {
    return run_ms([&] { convert(conversion, input_.buffer.data(), output_.data(), pool_); });
  };
  const double first = run();
  if (first > kConversionBudgetMs) return timing_of({first});  // caches make no difference to it
  return timing_of(time_runs(3, kConversionBudgetMs, run));
}

}  // namespace winnow
