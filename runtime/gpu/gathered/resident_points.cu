#include "runtime/gpu/gathered/resident_compiled.cuh"

namespace winnow {

ResidentConvKernel resident_point_kernel(const ResidentConvForm& form) {
  return find_resident_kernel<ResidentKind::point>(form);
}

}  // namespace winnow
