#include "runtime/base/line_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

#include "runtime/base/descriptor.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace winnow {
namespace {

constexpr int kMostAttempts = 100;
constexpr std::chrono::milliseconds kPause{10};

[[noreturn]] void refuse(const std::string& path, const char* what) {
  const std::string reason = std::generic_category().message(errno);
  fail(ErrorCode::bad_file, path, ": ", what, ": ", reason);
}

// Open for appending. A pipe without a reader is not waited for, and a link is not followed: in a
// folder that others may write, it could lead to any file of the user's.
std::unique_ptr<Descriptor> open_to_append(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  auto file = std::make_unique<Descriptor>(::open(path.c_str(), kFlags, 0666));
  if (file->get() < 0) refuse(path, "cannot write");
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) refuse(path, "cannot read");
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::bad_file, path, ": not a regular file");
  return file;
}

// The file at `path`, locked until it is closed. Where the lock cannot be had (file systems without
// locks, a holder that was stopped) the file is used without it: a line may then be lost, but never
// torn.
std::unique_ptr<Descriptor> open_locked(const std::string& path) {
  for (int attempt = 0;; ++attempt) {
    auto file = open_to_append(path);
    const bool is_locked = ::flock(file->get(), LOCK_EX | LOCK_NB) == 0;
    const bool is_held = !is_locked && errno == EWOULDBLOCK;
    if (is_locked && is_file_at(file->get(), path)) return file;
    if ((!is_locked && !is_held) || attempt == kMostAttempts) return file;
    if (is_held) std::this_thread::sleep_for(kPause);
  }
}

bool has_open_line(int descriptor) {
  struct stat status {};
  char last = '\n';
  if (::fstat(descriptor, &status) != 0 || status.st_size == 0) return false;
  return ::pread(descriptor, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

}  // namespace

bool is_file_at(int descriptor, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void append_line(const std::string& path, std::string_view line) {
  const auto file = open_locked(path);
  std::string text = has_open_line(file->get()) ? "\n" : "";
  text.append(line).append("\n");
  ssize_t written = 0;
  do {
    written = ::write(file->get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) refuse(path, "cannot write");
  if (static_cast<std::size_t>(written) == text.size()) return;
  fail(ErrorCode::bad_file, path, ": cannot write: only ", written, " of ", text.size(), " bytes");
}

void require_appendable(const std::string& path) {
  open_to_append(path);
}

void rewrite_lines(const std::string& path, std::size_t limit_bytes,
                   const std::function<std::string(const std::string& text)>& rewrite) {
  const auto file = open_locked(path);
  write_file_atomically(path, std::string_view(rewrite(read_text_file(path, limit_bytes))));
}

}  // namespace winnow
