// Which device LibTorch computes on. Free of LibTorch's headers.
#pragma once

#include <string>

namespace winnow {

// "auto", "cpu" or "cuda:1" as what it stands for on this machine: "cpu (2 threads)".
// Throws Error{usage} for other names, Error{device} if the device is missing. A process that wants
// a GPU calls this, or something that does, before any other use of LibTorch (device.h).
std::string device_name(const std::string& wanted);

}  // namespace winnow
