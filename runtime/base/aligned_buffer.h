// Memory for activations.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace winnow {

// `count` floats, zero at first, on whole pages (large ones where the system gives them: planes
// lie far apart, and small pages would miss the translation cache at every plane). Move-only.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::int64_t count);  // Throws std::bad_alloc

  float* data() const { return data_.get(); }
  std::span<float> span() const { return {data_.get(), static_cast<std::size_t>(count_)}; }

 private:
  struct Free {
    void operator()(float* data) const;
  };
  std::unique_ptr<float[], Free> data_;
  std::int64_t count_ = 0;
};

}  // namespace winnow
