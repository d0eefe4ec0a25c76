#include "runtime/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/error.h"
#include "runtime/base/unfinished_files.h"

namespace winnow {
namespace {

// What the system says about errno.
std::string system_reason() {
  return std::generic_category().message(errno);
}

[[noreturn]] void refuse(const std::string& path, const char* what) {
  const std::string reason = system_reason();
  fail(ErrorCode::bad_file, path, ": ", what, ": ", reason);
}

// A regular file, open for reading. A pipe without a writer would be waited for.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_.get() < 0) refuse(path, "cannot open");
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0) refuse(path, "cannot read");
    if (!S_ISREG(status.st_mode)) fail(ErrorCode::bad_file, path, ": not a regular file");
    size_ = static_cast<std::size_t>(status.st_size);
  }

  int get() const { return descriptor_.get(); }
  std::size_t size() const { return size_; }

 private:
  Descriptor descriptor_;
  std::size_t size_ = 0;
};

// The file that `path` stands for: a link is followed, so that it stays a link.
// Throws if something other than a regular file is there, which a rename would destroy.
std::string write_target(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return path;
  if (!std::filesystem::is_regular_file(status)) {
    fail(ErrorCode::bad_file, path, ": cannot write: not a regular file");
  }
  if (!std::filesystem::is_symlink(path, error)) return path;
  return std::filesystem::canonical(path).string();
}

// A name in the same folder that no other writer uses.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter = 0;
  return path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

// Makes a rename in `folder` last. Some file systems cannot sync folders; that is no error.
void sync_folder(const std::filesystem::path& folder) {
  const std::string path = folder.empty() ? "." : folder.string();
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) return;
  if (::fsync(descriptor.get()) != 0 && errno == EIO) refuse(path, "cannot sync the folder");
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const InputFile file(path);
  if (file.size() == 0) return;  // an empty mapping is an error to the system
  size_ = file.size();
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) refuse(path, "cannot map");
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(const std::string& path) : path_(write_target(path)) {
  do {  // a name may be left over from a killed process with the same number
    temporary_ = temporary_name(path_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) refuse(path_, "cannot write");
  remember_unfinished(temporary_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget_unfinished(temporary_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path_, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto at = static_cast<off_t>(offset);
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path_, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) refuse(path_, "cannot sync");
  if (::close(std::exchange(descriptor_, -1)) != 0) refuse(path_, "cannot write");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_, "cannot rename");
  forget_unfinished(std::exchange(temporary_, ""));
  sync_folder(std::filesystem::path(path_).parent_path());
}

void sync_file(const std::string& path) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) refuse(path, "cannot sync");
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file_atomically(const std::string& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

std::string read_text_file(const std::string& path, std::size_t limit_bytes) {
  const InputFile file(path);
  std::string text;
  std::string piece(std::size_t{1} << 16, '\0');
  while (true) {  // by pieces, because files of the system's own (/proc) have no size
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, "cannot read");
    if (count == 0) return text;
    text.append(piece, 0, static_cast<std::size_t>(count));
    if (text.size() > limit_bytes) {
      fail(ErrorCode::bad_file, path, ": longer than ", limit_bytes, " bytes");
    }
  }
}

}  // namespace winnow
