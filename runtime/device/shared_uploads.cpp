#include "runtime/device/shared_uploads.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "runtime/base/checksum.h"
#include "runtime/base/random.h"
#include "runtime/device/buffer.h"

namespace winnow {
namespace {

thread_local SharedUploads* current = nullptr;

}  // namespace

SharedUploads::Key SharedUploads::key_of(const void* data, std::size_t bytes) {
  const std::span all(static_cast<const std::byte*>(data), bytes);
  Key key{bytes, bytes, crc32c(all)};
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, all.data() + i, std::min(sizeof word, bytes - i));
    key.mixed = mix_bits(key.mixed ^ word) + 1;
  }
  return key;
}

std::shared_ptr<void> SharedUploads::get(const void* data, std::size_t bytes) {
  std::weak_ptr<void>& known = uploads_[key_of(data, bytes)];
  if (std::shared_ptr<void> shared = known.lock()) return shared;
  const auto buffer = std::make_shared<DeviceBuffer<std::byte>>(bytes);
  copy_to_device(buffer->get(), data, bytes);
  std::shared_ptr<void> shared(buffer, buffer->get());
  known = shared;
  return shared;
}

SharingUploads::SharingUploads(SharedUploads& uploads) : before_(current) {
  current = &uploads;
}

SharingUploads::~SharingUploads() {
  current = before_;
}

std::shared_ptr<void> shared_upload(const void* data, std::size_t bytes) {
  return current != nullptr && bytes > 0 ? current->get(data, bytes) : nullptr;
}

}  // namespace winnow
