// What launches read from the host's memory.
#pragma once

#include <ATen/Functions.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>

namespace winnow {

// The parts one after the other, u8 [bytes of all], from pinned memory, which LibTorch keeps until
// the copy is made: the host does not wait.
inline at::Tensor device_copy(std::initializer_list<std::span<const std::byte>> parts,
                              const at::Device& device) {
  std::int64_t bytes = 0;
  for (const auto& part : parts) bytes += static_cast<std::int64_t>(part.size());
  const at::Tensor host =
      at::empty({bytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
  auto* to = host.mutable_data_ptr<std::uint8_t>();
  for (const auto& part : parts) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  return host.to(device, /*non_blocking=*/true);
}

}  // namespace winnow
