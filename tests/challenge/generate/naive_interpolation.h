// Trigonometric interpolation by its formula: O(from * to) and obviously right.
#pragma once

#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

namespace winnow::challenge {

inline std::complex<double> naive_root(double numerator, double denominator) {
  return std::exp(std::complex<double>(0, 2 * std::numbers::pi * numerator / denominator));
}

// X[k] for the k that both sizes have (Nyquist's positive), then the sum over them at `count`
// places.
inline std::vector<std::complex<double>> naive_interpolation(
    const std::vector<std::complex<double>>& samples, std::size_t count) {
  const auto from = static_cast<int>(samples.size()), to = static_cast<int>(count);
  const int kept = std::min(from, to);
  std::vector<std::complex<double>> points(count);
  for (int k = kept / 2 - kept + 1; k <= kept / 2; ++k) {
    std::complex<double> coefficient = 0;
    for (int n = 0; n < from; ++n) {
      coefficient += samples[static_cast<std::size_t>(n)] * naive_root(-k * (n % from), from);
    }
    for (int m = 0; m < to; ++m) {
      points[static_cast<std::size_t>(m)] += coefficient / double(from) * naive_root(k * m, to);
    }
  }
  return points;
}

// matrix [rows, columns] times vector [columns].
inline std::vector<std::complex<double>> multiply(const std::vector<std::complex<double>>& matrix,
                                                  const std::vector<std::complex<double>>& vector) {
  std::vector<std::complex<double>> product(matrix.size() / vector.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    product[i / vector.size()] += matrix[i] * vector[i % vector.size()];
  }
  return product;
}

}  // namespace winnow::challenge
