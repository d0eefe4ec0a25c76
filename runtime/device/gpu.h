// Which GPUs there are.
#pragma once

#include <cstddef>
#include <string>

namespace winnow {

// Why no GPU can be used: "no NVIDIA driver was found (libcuda.so.1)", "no device". Empty if there
// is one. Never throws.
std::string missing_gpu_reason();

// How many GPUs there are; 0 if none can be used. Never throws.
int gpu_count();

// Throws Error{device} unless there is a GPU of this number.
void check_gpu(int gpu);

// Makes `gpu` the calling thread's device. Throws Error{device} if there is no such GPU.
void select_gpu(int gpu);

// "cuda:0 (NVIDIA H200)". Throws Error{device} if there is no such GPU.
std::string gpu_name(int gpu);

// What no other GPU of any machine is called, in hexadecimal digits. Throws Error{device} if there
// is no such GPU.
std::string gpu_uuid(int gpu);

// Bytes of the calling thread's device that can be taken: what is free, less a twentieth that the
// sizes of pages and libraries eat. Throws Error{device}.
std::size_t usable_gpu_bytes();

}  // namespace winnow
