#include "runtime/challenge/generate/interpolation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace winnow::challenge {
namespace {

// Both numbers of points hold the frequencies from first to last.
struct Frequencies {
  std::int64_t first;
  std::int64_t last;
};

Frequencies common_frequencies(std::size_t from, std::size_t to) {
  const auto count = static_cast<std::int64_t>(std::min(from, to));
  return {-((count - 1) / 2), count / 2};
}

// exp(2 pi i numerator / denominator), exact to the last bits however large the numerator.
std::complex<double> unit_root(std::int64_t numerator, std::int64_t denominator) {
  const auto turn = static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  return std::polar(1.0, 2 * std::numbers::pi * turn);
}

// Without the checks for infinities that std::complex makes.
std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// As many phases as leave no phase with fewer points than there are samples.
std::uint32_t phases_for(std::uint32_t from, std::uint32_t to) {
  std::uint32_t points = std::min(from, to);
  while (to % points != 0) ++points;
  return to / points;
}

}  // namespace

std::vector<std::complex<double>> interpolation_matrix(std::uint32_t from, std::uint32_t to) {
  const auto [first, last] = common_frequencies(from, to);
  const std::int64_t whole = std::int64_t{from} * to;
  std::vector<std::complex<double>> matrix(std::size_t{from} * to);
  for (std::uint32_t row = 0; row < to; ++row) {
    for (std::uint32_t column = 0; column < from; ++column) {
      const std::int64_t distance = std::int64_t{row} * from - std::int64_t{column} * to;
      std::complex<double> sum = 0;
      for (std::int64_t k = first; k <= last; ++k) sum += unit_root(k * distance, whole);
      matrix[std::size_t{row} * from + column] = sum / static_cast<double>(from);
    }
  }
  return matrix;
}

LongInterpolation::LongInterpolation(std::uint32_t groups, std::uint32_t from, std::uint32_t to)
    : samples_(std::size_t{groups} * from),
      phases_(phases_for(from, to)),
      phase_points_(std::size_t{groups} * (to / phases_)),
      forward_(samples_, Direction::forward),
      backward_(phase_points_, Direction::backward) {}

// points[k] = spectrum[k] exp(2 pi i k p / all points) / samples for k in [first, last], negative k
// counted from the end.
void LongInterpolation::turn(const ComplexBuffer& spectrum, std::uint32_t p,
                             const ComplexBuffer& points, std::int64_t first,
                             std::int64_t last) const {
  constexpr std::int64_t kStep = 1024;
  const auto all_points = static_cast<std::int64_t>(phase_points_ * phases_);
  std::vector<std::complex<double>> small(kStep);
  for (std::int64_t i = 0; i < kStep; ++i) small[i] = unit_root(i * p, all_points);
  const bool is_negative = first < 0;
  std::complex<double>* to = points.data() + (is_negative ? phase_points_ : 0);
  const std::complex<double>* from = spectrum.data() + (is_negative ? samples_ : 0);
  for (std::int64_t k = first; k <= last; k += kStep) {
    const auto large = unit_root(k * p, all_points) / static_cast<double>(samples_);
    const std::int64_t count = std::min(kStep, last - k + 1);
    for (std::int64_t i = 0; i < count; ++i) {
      to[k + i] = product(from[k + i], product(large, small[i]));
    }
  }
}

void LongInterpolation::synthesise(const ComplexBuffer& spectrum, std::uint32_t p,
                                   const ComplexBuffer& points) const {
  const auto [first, last] = common_frequencies(samples_, phase_points_ * phases_);
  turn(spectrum, p, points, 0, last);
  turn(spectrum, p, points, first, -1);
  std::fill(points.data() + last + 1,
            points.data() + static_cast<std::int64_t>(phase_points_) + first, 0);
  backward_.run(points);
}

}  // namespace winnow::challenge
