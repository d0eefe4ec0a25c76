#include "runtime/gpu/gathered/resident_compiled.cuh"

namespace winnow {

ResidentConvKernel resident_map_kernel(const ResidentConvForm& form) {
  return find_resident_kernel<ResidentKind::map>(form);
}

}  // namespace winnow
