// Constants in device memory that are there once however often they are uploaded: the weights of
// networks planned for several batch sizes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace winnow {

// Knows its uploads by size and two checksums, together of 96 bits. It keeps none alive.
class SharedUploads {
 public:
  // Device memory with these bytes, which nobody may write. Throws Error{device} if memory runs
  // out. Requires bytes > 0.
  std::shared_ptr<void> get(const void* data, std::size_t bytes);

 private:
  struct Key {
    std::size_t bytes = 0;
    std::uint64_t mixed = 0;
    std::uint32_t checksum = 0;
    auto operator<=>(const Key&) const = default;
  };
  static Key key_of(const void* data, std::size_t bytes);

  std::map<Key, std::weak_ptr<void>> uploads_;
};

// While it lives, upload() (buffer.h) in its thread takes what `uploads` has. Nobody may write what
// was uploaded so.
class SharingUploads {
 public:
  explicit SharingUploads(SharedUploads& uploads);
  ~SharingUploads();
  SharingUploads(const SharingUploads&) = delete;
  SharingUploads& operator=(const SharingUploads&) = delete;

 private:
  SharedUploads* before_;
};

// What SharingUploads of this thread gives; null without one.
std::shared_ptr<void> shared_upload(const void* data, std::size_t bytes);

}  // namespace winnow
