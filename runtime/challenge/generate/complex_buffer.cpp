#include <new>

#include "runtime/challenge/generate/fft.h"

namespace winnow::challenge {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

ComplexBuffer::ComplexBuffer(std::size_t count)
    : data_(new (kAlignment) std::complex<double>[count]) {}

void ComplexBuffer::Free::operator()(std::complex<double>* data) const {
  ::operator delete[](data, kAlignment);
}

}  // namespace winnow::challenge
