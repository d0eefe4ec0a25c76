#include <iterator>
#include <utility>

#include "runtime/gpu/gathered/ring_kernel.cuh"
#include "runtime/gpu/gathered/ring_kernels.h"

namespace winnow {
namespace {

using Kernel = RingKernel<RingBulkSource>;

template <std::size_t... kIndices>
std::vector<Kernel> compile_all(std::index_sequence<kIndices...>) {
  return {{kRingForms[kIndices], kRingThreads<CompiledForm<kIndices>, RingBulkSource>,
           ring_kernel<CompiledForm<kIndices>, RingBulkSource>}...};
}

}  // namespace

template <>
const std::vector<Kernel>& ring_kernels<RingBulkSource>() {
  static const std::vector<Kernel> all =
      compile_all(std::make_index_sequence<std::size(kRingForms)>());
  return all;
}

}  // namespace winnow
