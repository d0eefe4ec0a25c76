#include "runtime/challenge/generate/interpolation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "runtime/base/random.h"
#include "tests/challenge/generate/naive_interpolation.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

std::vector<std::complex<double>> by_phases(const LongInterpolation& interpolation,
                                            const std::vector<std::complex<double>>& samples) {
  ComplexBuffer spectrum(interpolation.samples()), points(interpolation.phase_points());
  std::copy(samples.begin(), samples.end(), spectrum.data());
  interpolation.analyse(spectrum);
  const std::uint32_t phases = interpolation.phases();
  std::vector<std::complex<double>> all(interpolation.phase_points() * phases);
  for (std::uint32_t p = 0; p < phases; ++p) {
    interpolation.synthesise(spectrum, p, points);
    for (std::size_t i = 0; i < interpolation.phase_points(); ++i) all[i * phases + p] = points[i];
  }
  return all;
}

std::vector<std::complex<double>> random_samples(std::size_t count) {
  Random random(count);
  std::vector<std::complex<double>> samples(count);
  for (auto& sample : samples) sample = {random.uniform(-1, 1), random.uniform(-1, 1)};
  return samples;
}

double distance(const std::vector<std::complex<double>>& a,
                const std::vector<std::complex<double>>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("interpolation of a worked example") {
  // Two samples: frequencies 0 and +1, so f(t) = (a + b) / 2 + (a - b) / 2 exp(i pi t).
  const auto matrix = interpolation_matrix(2, 4);
  const auto value = [&](std::size_t row) { return matrix[2 * row] * 5.0 + matrix[2 * row + 1]; };
  CHECK(std::abs(value(0) - 5.0) < 1e-15);
  CHECK(std::abs(value(1) - std::complex<double>(3, 2)) < 1e-15);
  CHECK(std::abs(value(2) - 1.0) < 1e-15);
  CHECK(std::abs(value(3) - std::complex<double>(3, -2)) < 1e-15);
}

TEST_CASE("a wave of low frequency is met exactly between the samples") {
  const auto matrix = interpolation_matrix(7, 30);
  const auto wave = [](double t) { return 2 + std::cos(2 * std::numbers::pi * (3 * t - 0.1)); };
  for (std::size_t row = 0; row < 30; ++row) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      sum += matrix[row * 7 + i] * wave(static_cast<double>(i) / 7);
    }
    CHECK(std::abs(sum - wave(static_cast<double>(row) / 30)) < 1e-13);
  }
}

TEST_CASE("short and long interpolation agree with the naive transform") {
  struct Sizes {
    std::uint32_t groups, from, to, phases;
  };
  for (const Sizes& sizes : {Sizes{1, 28, 32, 1},
                             {3, 28, 64, 2},
                             {2, 28, 256, 8},
                             {5, 3, 9, 3},
                             {3, 7, 10, 1},
                             {3, 5, 5, 1},
                             {4, 6, 3, 1},
                             {3, 8, 5, 1},
                             {1, 1, 1, 1},
                             {2, 1, 4, 4},
                             {41, 28, 30, 1}}) {
    CAPTURE(sizes.groups);
    CAPTURE(sizes.from);
    CAPTURE(sizes.to);
    const LongInterpolation interpolation(sizes.groups, sizes.from, sizes.to);
    CHECK(interpolation.phases() == sizes.phases);
    const auto samples = random_samples(interpolation.samples());
    const auto naive = naive_interpolation(samples, std::size_t{sizes.groups} * sizes.to);
    CHECK(distance(by_phases(interpolation, samples), naive) < 1e-12);
    if (naive.size() > 300) continue;  // the matrix takes from * from * to steps
    const auto matrix = interpolation_matrix(sizes.groups * sizes.from, sizes.groups * sizes.to);
    CHECK(distance(multiply(matrix, samples), naive) < 1e-12);
  }
}

TEST_CASE("signals too long for the transform are refused") {
  CHECK(error_of([] { LongInterpolation(1u << 27, 28, 32); }) == ErrorCode::usage);
}

}  // namespace winnow::challenge
