#include "runtime/gpu/conv/direct_conv_kernel.cuh"

namespace winnow {

void launch_direct_f16(const DirectTile& tile, bool is_packed, const DirectArguments& arguments,
                       const DirectLaunch& launch) {
  launch_direct<__half>(tile, is_packed, arguments, launch);
}

}  // namespace winnow
