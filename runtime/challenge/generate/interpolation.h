// Trigonometric interpolation of periodic signals: the samples' discrete Fourier transform, cut or
// padded with zeros to another number of points. Of an even number of frequencies the highest
// (Nyquist's) counts as positive only, so that results of real signals are complex.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/challenge/generate/fft.h"

namespace winnow::challenge {

// The matrix that takes `from` samples to `to`, for short signals: takes from * from * to steps.
//
//   returns  [to, from] row-major
//
// Requires from, to > 0.
std::vector<std::complex<double>> interpolation_matrix(std::uint32_t from, std::uint32_t to);

// The same for one long signal that is `groups` stretches of `from` samples, each of which becomes
// `to` points. These are computed phase by phase (a polyphase decomposition): phase p holds the
// points p, p + phases(), p + 2 phases() ... This takes shorter transforms than one over all
// points, and none of its many zeros.
class LongInterpolation {
 public:
  // Throws Error{usage} if this build lacks FFTW or the signal exceeds 2^31 samples.
  LongInterpolation(std::uint32_t groups, std::uint32_t from, std::uint32_t to);

  std::size_t samples() const { return samples_; }            // groups * from
  std::uint32_t phases() const { return phases_; }            // divides `to`
  std::size_t phase_points() const { return phase_points_; }  // groups * to / phases()

  // samples [samples()] become their spectrum in place.
  void analyse(const ComplexBuffer& samples) const { forward_.run(samples); }

  // Writes phase p to points [phase_points()], group after group.
  void synthesise(const ComplexBuffer& spectrum, std::uint32_t p,
                  const ComplexBuffer& points) const;

 private:
  void turn(const ComplexBuffer& spectrum, std::uint32_t p, const ComplexBuffer& points,
            std::int64_t first, std::int64_t last) const;

  std::size_t samples_;
  std::uint32_t phases_;
  std::size_t phase_points_;
  Fft forward_;
  Fft backward_;
};

}  // namespace winnow::challenge
