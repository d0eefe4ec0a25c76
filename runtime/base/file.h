// Files as whole things: mapped for reading, replaced as one for writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace winnow {

// A read-only view of a whole file in memory. Move-only.
class MappedFile {
 public:
  // Throws Error{bad_file} with the path and the system's reason, also if `path` is no regular
  // file: pipes are refused, not waited for.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// What the name of a temporary file may have behind that of its file: ".tmp-PROCESS-NUMBER".
inline constexpr std::size_t kTemporarySuffixBytes = 24;

// Writes `bytes` beside `path` in a temporary file, syncs it and renames it to `path`, so that at
// every moment `path` holds either its old content or all of the new one.
// A link is followed. Throws Error{bad_file}, also if `path` is something other than a regular
// file; then no temporary file is left.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::string& path, std::string_view text);

// The same for content that is produced piece by piece.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // removes the temporary file unless commit() was called

  void write(std::span<const std::byte> bytes);
  // Replaces bytes that were written before, for a header that is known last.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void commit();  // sync, rename, sync the folder

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

// Makes what was written to the file last. Throws Error{bad_file}.
void sync_file(const std::string& path);

// The whole file as text. Throws Error{bad_file} if it cannot be read, is no regular file or
// exceeds `limit_bytes`.
std::string read_text_file(const std::string& path, std::size_t limit_bytes = 1 << 20);

}  // namespace winnow
