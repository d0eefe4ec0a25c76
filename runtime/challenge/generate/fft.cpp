#include "runtime/challenge/generate/fft.h"

#include <fftw3.h>

#include <climits>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

// std::complex<double> is laid out as fftw_complex (FFTW manual, "Complex numbers").
fftw_complex* as_fftw(const ComplexBuffer& buffer) {
  return reinterpret_cast<fftw_complex*>(buffer.data());
}

}  // namespace

Fft::Fft(std::size_t points, Direction direction) {
  if (points == 0 || points > INT_MAX) {
    fail(ErrorCode::usage, "found a transform of ", points, " points, expected 1 to ", INT_MAX);
  }
  const ComplexBuffer buffer(points);
  // FFTW_ESTIMATE: measuring takes longer than all transforms together, and a plan chosen by
  // measurement may round differently from run to run.
  plan_.reset(fftw_plan_dft_1d(static_cast<int>(points), as_fftw(buffer), as_fftw(buffer),
                               static_cast<int>(direction), FFTW_ESTIMATE));
  if (!plan_) fail(ErrorCode::internal, "FFTW has no plan for ", points, " points");
}

void Fft::Free::operator()(void* plan) const {
  fftw_destroy_plan(static_cast<fftw_plan>(plan));
}

void Fft::run(const ComplexBuffer& data) const {
  fftw_execute_dft(static_cast<fftw_plan>(plan_.get()), as_fftw(data), as_fftw(data));
}

std::string missing_fft() {
  return "";
}

}  // namespace winnow::challenge
