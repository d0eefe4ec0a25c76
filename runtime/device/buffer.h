// Move-only owners of device memory and of page-locked host memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/device/cuda_check.h"
#include "runtime/device/memory_use.h"
#include "runtime/device/shared_uploads.h"

namespace winnow {

// `count` elements of T in device memory, not initialised; null for 0.
// T is trivially copyable. Throws Error{device} if memory runs out.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) {
      fail(ErrorCode::usage, "device buffer: ", count, " elements overflow");
    }
    if (count > 0) CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
    device_memory_use.add(bytes());
  }
  // `count` elements in memory that others may have too.
  DeviceBuffer(std::shared_ptr<void> shared, std::size_t count)
      : data_(shared.get()), count_(count), shared_(std::move(shared)) {}
  // Nothing if memory runs out.
  static std::optional<DeviceBuffer> try_make(std::size_t count) {
    DeviceBuffer buffer;
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) return std::nullopt;
    if (count > 0) {
      const cudaError_t status = cudaMalloc(&buffer.data_, count * sizeof(T));
      if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // clears it
        return std::nullopt;
      }
      CUDA_CHECK(status);
    }
    buffer.count_ = count;
    device_memory_use.add(buffer.bytes());
    return buffer;
  }
  ~DeviceBuffer() {
    if (data_ == nullptr || shared_ != nullptr) return;
    cudaFree(data_);
    device_memory_use.remove(bytes());
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        shared_(std::exchange(other.shared_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(shared_, other.shared_);
    return *this;
  }

  T* get() const { return static_cast<T*>(data_); }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  void* data_ = nullptr;
  std::size_t count_ = 0;
  std::shared_ptr<void> shared_;  // whose data_ is; null: its own
};

// Copies `bytes` bytes from host to device memory; returns when they are there.
inline void copy_to_device(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  CUDA_CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  // From pageable memory the call above may return while the copy runs, and our streams do not
  // wait for the default stream.
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

// Copies `values` to new device memory, or takes memory that has them (SharingUploads); returns
// when they are there.
template <typename T>
DeviceBuffer<T> upload(std::span<const T> values) {
  if (auto shared = shared_upload(values.data(), values.size_bytes())) {
    return {std::move(shared), values.size()};
  }
  DeviceBuffer<T> buffer(values.size());
  copy_to_device(buffer.get(), values.data(), buffer.bytes());
  return buffer;
}
template <typename T>
DeviceBuffer<T> upload(const std::vector<T>& values) {
  return upload(std::span<const T>(values));
}

// `count` elements of T in page-locked host memory, not initialised, so that copies to and from the
// device run at full speed and beside kernels. T is trivially copyable.
template <typename T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t count) : count_(count) {
    if (count > 0) CUDA_CHECK(cudaMallocHost(&data_, count * sizeof(T)));
  }
  ~PinnedBuffer() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  std::span<T> values() const { return {static_cast<T*>(data_), count_}; }

 private:
  void* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace winnow
