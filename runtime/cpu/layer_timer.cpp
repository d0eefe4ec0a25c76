#include "runtime/cpu/layer_timer.h"

#include "runtime/base/median.h"
#include "runtime/base/random.h"
#include "runtime/base/wall_clock.h"

namespace winnow {
namespace {

constexpr int kRepeats = 7;
constexpr double kBudgetMs = 40;

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
  reserve(planes_of(layer.input_layout, shape.in).count(),
          planes_of(layer.output_layout, shape.out).count(), layer.scratch_floats());
  const float* inputs[] = {input_.data()};
  const auto work = [&] { layer.run({inputs, output_.data(), scratch_.data()}, pool_); };
  constexpr double kHopelessMs = 25, kHopeless = 3;  // a first run may also start threads
  const double first = run_ms(work);
  if (first > kHopelessMs && first > kHopeless * best_ms) return first;
  return median(time_runs(kRepeats, kBudgetMs, work));
}

double LayerTimer::measure(const LayoutConversion& conversion) {
  reserve(planes_of(conversion.from, conversion.extent).count(),
          planes_of(conversion.to, conversion.extent).count(), 0);
  return median(
      time_runs(3, kBudgetMs, [&] { convert(conversion, input_.data(), output_.data(), pool_); }));
}

}  // namespace winnow
