#include "runtime/cpu/layer_timer.h"

#include "runtime/base/median.h"
#include "runtime/base/random.h"
#include "runtime/base/wall_clock.h"

namespace winnow {
namespace {

constexpr int kRepeats = 7;
constexpr double kBudgetMs = 40;
constexpr std::int64_t kCacheFloats = 4 << 20;  // more than second-level caches hold
constexpr std::int64_t kLineFloats = 16;

void grow(AlignedBuffer& buffer, std::int64_t count, bool is_random) {
  if (static_cast<std::int64_t>(buffer.span().size()) >= count) return;
  buffer = AlignedBuffer();  // first free, then allocate
  buffer = AlignedBuffer(count);
  if (!is_random) return;
  Random random(1);
  for (float& x : buffer.span()) x = static_cast<float>(random.bits() >> 40) * 0x1p-24f;
}

std::string key_of(const LayoutConversion& c) {
  const Extents& x = c.extent;
  return "convert " + to_string(c.from) + " " + to_string(c.to) + " " +
         to_string({x.n, x.c, x.h, x.w});
}

}  // namespace

std::vector<double> time_runs(int repeats, double budget_ms, const std::function<void()>& work) {
  double spent = run_ms(work);
  std::vector<double> times;
  for (int i = 0; i < repeats && (i == 0 || spent < budget_ms); ++i) {
    times.push_back(run_ms(work));
    spent += times.back();
  }
  return times;
}

void LayerTimer::reserve(std::int64_t input, std::int64_t output, std::int64_t scratch) {
  grow(input_, input, true);
  grow(output_, output, false);
  grow(scratch_, scratch, false);
}

double LayerTimer::time(CpuLayer& layer, const ConvShape& shape, const std::string& step,
                        double best_ms) {
  return table_.get(step + " | " + layer.kernel, [&] { return measure(layer, shape, best_ms); });
}

double LayerTimer::time(const LayoutConversion& conversion) {
  return table_.get(key_of(conversion), [&] { return measure(conversion); });
}

double LayerTimer::measure(CpuLayer& layer, const ConvShape& shape, double best_ms) {
  const std::int64_t output = planes_of(layer.output_layout, shape.out).count();
  reserve(planes_of(layer.input_layout, shape.in).count(), output, layer.scratch_floats());
  if (layer.addends > 0) grow(addend_, output, true);
  std::vector<const float*> inputs = {input_.data()};
  inputs.resize(1 + static_cast<std::size_t>(layer.addends), addend_.data());
  const auto work = [&] { layer.run({inputs, output_.data(), scratch_.data()}, pool_); };
  constexpr double kHopelessMs = 25, kHopeless = 3;  // a first run may also start threads
  const double first = run_ms(work);
  if (first > kHopelessMs && first > kHopeless * best_ms) return first;
  return median(time_cold_runs(work));
}

// In a network other layers' weights have passed through the caches since the last run.
std::vector<double> LayerTimer::time_cold_runs(const std::function<void()>& work) {
  grow(evicted_, kCacheFloats, false);
  std::vector<double> times;
  double spent = 0;
  for (int i = 0; i < kRepeats && (i == 0 || spent < kBudgetMs); ++i) {
    pool_.run_ranges(kCacheFloats / kLineFloats, kLineFloats,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t line = begin; line < end; ++line) {
                         evicted_.data()[line * kLineFloats] += 1;
                       }
                     });
    times.push_back(run_ms(work));
    spent += times.back();
  }
  return times;
}

double LayerTimer::measure(const LayoutConversion& conversion) {
  reserve(planes_of(conversion.from, conversion.extent).count(),
          planes_of(conversion.to, conversion.extent).count(), 0);
  return median(
      time_runs(3, kBudgetMs, [&] { convert(conversion, input_.data(), output_.data(), pool_); }));
}

}  // namespace winnow
