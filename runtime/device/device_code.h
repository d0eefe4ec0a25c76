// What the program was compiled for, seen from the GPU that runs it.
#pragma once

namespace winnow {

// Whether the current GPU has compute capability 9.0 or newer and runs code that was compiled for
// such. A program may have code for older GPUs alone, which a newer one translates: there kernels
// lack what only 9.0 has. Throws Error{device} without a GPU.
bool runs_hopper_code();

}  // namespace winnow
