// NVIDIA's libraries that are opened at run time: names of files and packages, and what each needs
// before it is opened.
#pragma once

#include "runtime/device/dynamic_library.h"

namespace winnow {

inline constexpr int kCudnnMajor = 9;

// Each throws Error{device} if it is not found; the message lists where it looked. Opening one
// again is cheap.
DynamicLibrary open_cublaslt();  // of the CUDA version that this was built with

// Throws Error{device} for another version than kCudnnMajor too.
DynamicLibrary open_cudnn();

DynamicLibrary open_nccl();      // version 2
DynamicLibrary open_cusparse();  // of the version that this was built with

}  // namespace winnow
