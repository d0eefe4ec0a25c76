#include "runtime/gpu/gathered/resident_compiled.cuh"

namespace winnow {

ResidentConvKernel resident_strip_kernel(const ResidentConvForm& form) {
  return find_resident_kernel<ResidentKind::strip>(form);
}

}  // namespace winnow
