// Stands in for fft.cpp in builds without FFTW.
#include "runtime/base/error.h"
#include "runtime/challenge/generate/fft.h"

namespace winnow::challenge {

Fft::Fft(std::size_t, Direction) {
  fail(ErrorCode::usage, "images cannot be made: ", missing_fft());
}

void Fft::Free::operator()(void*) const {}

void Fft::run(const ComplexBuffer&) const {}

std::string missing_fft() {
  return "this build lacks FFTW (package libfftw3-dev)";
}

}  // namespace winnow::challenge
