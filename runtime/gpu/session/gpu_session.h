// The GPU backend. In a build without CUDA its functions throw Error{device} (no_gpu.cpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/library_facts.h"
#include "runtime/plan/session.h"
#include "runtime/plan/timing.h"

namespace winnow {

// Whether this build has CUDA, a driver answers and device 0 exists. Never throws.
bool gpu_is_available();

// Why not, in one line: "built without CUDA", "no NVIDIA driver was found", "no device". Empty if
// available.
std::string gpu_unavailable_reason();

// "NVIDIA H200, sm_90, 132 SMs, driver 13.0, runtime 13.0, cuDNN 9.19". Throws Error{device}.
std::string gpu_description(int gpu);

// What times measured on this GPU depend on: its name, compute capability and SMs; driver, CUDA,
// cuDNN, cuBLASLt and this program, with versions. Opens the libraries. Throws Error{device}.
TimingPlace gpu_timing_place(int gpu);

// NVIDIA's libraries that kernels and engines may use: cuBLASLt, cuDNN, cuSPARSE, NCCL. Opens them.
// Empty in a build without CUDA.
std::vector<LibraryFacts> gpu_libraries();

// Throws Error{device} if there is no such GPU or memory runs out.
std::unique_ptr<Session> make_gpu_session(const DeployedModel& model,
                                          const SessionOptions& options);

}  // namespace winnow
