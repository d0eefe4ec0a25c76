// Which device LibTorch measures on.
#pragma once

#include <string>

namespace winnow {

// "auto", "cpu" or "cuda:1" as what it stands for on this machine: "cpu (2 threads)".
// Throws Error{usage} for other names, Error{device} if the device is missing.
std::string device_name(const std::string& wanted);

}  // namespace winnow
