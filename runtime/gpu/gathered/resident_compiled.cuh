// Chooses among the kernels that the including file compiles.
#pragma once

#include <iterator>
#include <utility>

#include "runtime/gpu/gathered/resident_conv_kernel.cuh"
#include "runtime/gpu/gathered/resident_kernels.h"

namespace winnow {

// The kernel of form kIndex if it is of this kind.
template <bool kIsMap, std::size_t kIndex>
ResidentConvKernel resident_kernel_of_kind() {
  if constexpr (kResidentForms[kIndex].is_map == kIsMap) return resident_conv_kernel<kIndex>;
  return nullptr;
}

template <bool kIsMap, std::size_t... kIndices>
ResidentConvKernel find_resident_kernel(const ResidentConvForm& form,
                                        std::index_sequence<kIndices...>) {
  ResidentConvKernel found = nullptr;
  ((kResidentForms[kIndices] == form ? found = resident_kernel_of_kind<kIsMap, kIndices>()
                                     : nullptr),
   ...);
  return found;
}

template <bool kIsMap>
ResidentConvKernel find_resident_kernel(const ResidentConvForm& form) {
  return find_resident_kernel<kIsMap>(form, std::make_index_sequence<std::size(kResidentForms)>());
}

}  // namespace winnow
