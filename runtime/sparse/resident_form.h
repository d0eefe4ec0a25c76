// How activations lie in shared memory while a block takes them through several layers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace winnow {

inline constexpr std::size_t kStaticShared = 1024;  // room for what kernels declare themselves

// fp32 or fp16, so many images to a row.
struct ResidentForm {
  bool is_half = false;
  int images = 16;  // 16, 8 or (fp32 only) 4

  std::uint32_t row_bytes() const { return static_cast<std::uint32_t>(images) * (is_half ? 2 : 4); }
  std::uint32_t bank_groups() const { return 128 / row_bytes(); }  // lane_order.h

  // Shared memory of so many buffers of `rows` rows.
  std::size_t shared_bytes(std::uint32_t rows, std::size_t buffers = 2) const {
    return buffers * rows * row_bytes();
  }

  // Whether a block that may have so much shared memory can hold them.
  bool fits(std::uint32_t rows, std::size_t shared, std::size_t buffers = 2) const {
    return shared_bytes(rows, buffers) + kStaticShared <= shared;
  }

  friend bool operator==(const ResidentForm&, const ResidentForm&) = default;
};

}  // namespace winnow
