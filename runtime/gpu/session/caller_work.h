// What a caller hands to a session: pointers to device memory, and a stream.
#pragma once

#include <cuda_runtime_api.h>

namespace winnow {

// Throws Error{usage} unless `data` is memory of this GPU or managed memory. `name` begins the
// message: "input".
void check_device_memory(const void* data, const char* name, int gpu);

// Whether `stream` records a graph. Throws Error{device} if its recording has failed.
bool is_recording(cudaStream_t stream);

}  // namespace winnow
