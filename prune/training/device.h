// Where LibTorch computes.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace winnow {

// "cpu", "cuda", "cuda:1" or "auto" (a GPU where one is found, else the CPU) as a device.
//
// LibTorch is linked without its CUDA half. This function opens that half when a GPU is asked for,
// or when "auto" finds a driver, so a machine without a GPU never loads it. LibTorch remembers the
// lack of a GPU: a process that wants one must call this before any other use of LibTorch.
// Where the name leaves the GPU open, rank `local_rank` of this machine gets its own, in turns if
// there are fewer. Throws Error{usage} for other names, Error{device} if a GPU is asked for and
// missing.
torch::Device resolve_device(const std::string& name, std::int64_t local_rank = 0);

// The most memory of the device that LibTorch has held in this process, what it keeps for later
// included; 0 of the CPU, or where this build
// has no module that asks for it.
std::int64_t peak_gpu_bytes(const torch::Device& device);

// "cpu (2 threads)" or "cuda:0 (NVIDIA H200)".
std::string describe_device(const torch::Device& device);

}  // namespace winnow
