// Which of NVIDIA's libraries can be opened on this machine.
#pragma once

#include <string>

namespace winnow {

// Tries to load cuBLASLt; returns whether it worked. Never throws.
bool preload_cublaslt() noexcept;

// "cuDNN 9.19", "no cuDNN: ..." for reports. Never throws.
std::string describe_cudnn() noexcept;

}  // namespace winnow
