// Device memory that grows.
#pragma once

#include "runtime/device/buffer.h"

namespace winnow::challenge {

// Elements of T whose values do not outlive a reserve().
template <typename T>
class Scratch {
 public:
  // Makes room for `count` elements, at least one; false if memory runs out.
  bool reserve(std::size_t count) {
    if (count == 0) count = 1;  // a null pointer means something else to some libraries
    if (count <= buffer_.count()) return true;
    release();
    std::optional<DeviceBuffer<T>> larger = DeviceBuffer<T>::try_make(count);
    if (!larger) return false;
    buffer_ = std::move(*larger);
    return true;
  }

  void release() { buffer_ = DeviceBuffer<T>(); }
  T* get() const { return buffer_.get(); }

 private:
  DeviceBuffer<T> buffer_;
};

}  // namespace winnow::challenge
