#include <iterator>
#include <utility>

#include "runtime/gpu/gathered/ring_kernel.cuh"
#include "runtime/gpu/gathered/ring_kernels.h"

namespace winnow {
namespace {

using Kernel = RingKernel<RingThreadSource>;

// No warps give registers up: nine warps and more have at most 168 of them.
constexpr int kMostDepth = 3, kMostAhead = 4;

template <std::size_t kIndex>
void append(std::vector<Kernel>& kernels) {
  using Form = CompiledForm<kIndex, kMostDepth, kMostAhead>;
  if constexpr (Form::kPitch == 0) {
    kernels.push_back(
        {Form::kForm, kRingThreads<Form, RingThreadSource>, ring_kernel<Form, RingThreadSource>});
  }
}

template <std::size_t... kIndices>
std::vector<Kernel> compile_all(std::index_sequence<kIndices...>) {
  std::vector<Kernel> kernels;
  (append<kIndices>(kernels), ...);
  return kernels;
}

}  // namespace

template <>
const std::vector<Kernel>& ring_kernels<RingThreadSource>() {
  static const std::vector<Kernel> all =
      compile_all(std::make_index_sequence<std::size(kRingForms)>());
  return all;
}

}  // namespace winnow
