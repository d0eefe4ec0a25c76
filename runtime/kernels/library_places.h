// Where NVIDIA's libraries may lie on this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

// "a:b" -> {"a", "b"}; what CMake found when this was built.
std::vector<std::string> split_folders(std::string_view list);

// Tries to load cuBLASLt; returns whether it worked. Never throws.
bool preload_cublaslt() noexcept;

// "cuDNN 9.19", "no cuDNN: ..." for reports. Never throws.
std::string describe_cudnn() noexcept;

}  // namespace winnow
