// Modules beside the program that have what needs LibTorch's CUDA half (prune/training/cuda).
#pragma once

namespace winnow {

// A function of the module `file`, which is opened; null where the module was not built. Throws
// Error{device} if it cannot be opened.
void* module_function(const char* file, const char* name);

}  // namespace winnow
