// Long discrete Fourier transforms in double precision, by FFTW where this build has it.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>

namespace winnow::challenge {

// Complex numbers on an address that FFTW's vector code wants. Move-only.
class ComplexBuffer {
 public:
  explicit ComplexBuffer(std::size_t count);  // Throws std::bad_alloc

  std::complex<double>* data() const { return data_.get(); }
  std::complex<double>& operator[](std::size_t i) const { return data_[i]; }

 private:
  struct Free {
    void operator()(std::complex<double>* data) const;
  };
  std::unique_ptr<std::complex<double>[], Free> data_;
};

enum class Direction { forward = -1, backward = 1 };

// X[k] = sum over n of x[n] exp(+-2 pi i k n / points), in place and without a scale. Move-only.
class Fft {
 public:
  // Not to be called from two threads at once. Throws Error{usage} if this build lacks FFTW.
  Fft(std::size_t points, Direction direction);

  // `data` holds `points` numbers. May be called from several threads, each with its own data.
  void run(const ComplexBuffer& data) const;

 private:
  struct Free {
    void operator()(void* plan) const;
  };
  std::unique_ptr<void, Free> plan_;
};

// Empty, or what this build lacks.
std::string missing_fft();

}  // namespace winnow::challenge
