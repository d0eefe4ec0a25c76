// Chooses among the kernels that the including file compiles.
#pragma once

#include <iterator>
#include <utility>

#include "runtime/gpu/gathered/resident_conv_kernel.cuh"
#include "runtime/gpu/gathered/resident_kernels.h"

namespace winnow {

enum class ResidentKind { strip, map, point };

constexpr ResidentKind kind_of(const ResidentConvForm& form) {
  if (form.is_point()) return ResidentKind::point;
  return form.is_map ? ResidentKind::map : ResidentKind::strip;
}

// The kernel of form kIndex if it is of this kind.
template <ResidentKind kKind, std::size_t kIndex>
ResidentConvKernel resident_kernel_of_kind() {
  if constexpr (kind_of(kResidentForms[kIndex]) == kKind) return resident_conv_kernel<kIndex>;
  return nullptr;
}

template <ResidentKind kKind, std::size_t... kIndices>
ResidentConvKernel find_resident_kernel(const ResidentConvForm& form,
                                        std::index_sequence<kIndices...>) {
  ResidentConvKernel found = nullptr;
  ((kResidentForms[kIndices] == form ? found = resident_kernel_of_kind<kKind, kIndices>()
                                     : nullptr),
   ...);
  return found;
}

template <ResidentKind kKind>
ResidentConvKernel find_resident_kernel(const ResidentConvForm& form) {
  return find_resident_kernel<kKind>(form, std::make_index_sequence<std::size(kResidentForms)>());
}

}  // namespace winnow
