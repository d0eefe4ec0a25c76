// Sparse convolution by generated code; positions in the lanes.
#pragma once

#include <memory>
#include <optional>

#include "runtime/cpu/layer.h"

namespace winnow {

// Whether make_jit_conv can run the work on this machine.
bool jit_conv_fits(const ConvWork& work);

struct JitOptions {
  int threads = 1;
  bool has_addend = false;      // a second input, as the output, is added before the activation
  bool reads_plain = false;     // the input is nchw without gaps
  bool is_interleaved = false;  // lanes are images: chwn16 with gaps; needs jit_conv_interleaves()
  std::optional<Pool> pool{};   // runs on the output, which is not written; needs jit_conv_pools()
};

// Whether lanes may be images instead of positions: kernels that read their input in place.
bool jit_conv_interleaves(const ConvWork& work);

// Whether a pooling may run with the convolution whose output it reads.
bool jit_conv_pools(const ConvWork& work, const Pool& pool);

// Family "jit", to nchw with gaps and, unless it reads plain nchw, from there. A kernel of up to 3
// x 3 that keeps the plane's size reads an input with gaps in place; all others copy it first.
std::unique_ptr<CpuLayer> make_jit_conv(const ConvWork& work, const JitOptions& options);

}  // namespace winnow
