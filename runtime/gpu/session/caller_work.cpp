#include "runtime/gpu/session/caller_work.h"

#include "runtime/device/cuda_check.h"

namespace winnow {

void check_device_memory(const void* data, const char* name, int gpu) {
  cudaPointerAttributes attributes{};
  CUDA_CHECK(cudaPointerGetAttributes(&attributes, data));
  if (attributes.type == cudaMemoryTypeManaged) return;
  if (attributes.type != cudaMemoryTypeDevice) {
    fail(ErrorCode::usage, name, ": found a pointer to host memory, expected memory of GPU ", gpu);
  }
  if (attributes.device != gpu) {
    fail(ErrorCode::usage, name, ": found memory of GPU ", attributes.device,
         ", expected memory of GPU ", gpu);
  }
}

bool is_recording(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  if (status == cudaStreamCaptureStatusInvalidated) {
    fail(ErrorCode::device, "the stream's recording of a graph has failed before this run");
  }
  return status == cudaStreamCaptureStatusActive;
}

}  // namespace winnow
