#include "runtime/base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/line_file.h"
#include "runtime/base/run_names.h"
#include "runtime/base/unfinished_files.h"

namespace winnow {
namespace {

constexpr std::size_t kHolderBytes = 512;

[[noreturn]] void refuse(const std::string& path, const char* what) {
  const std::string reason = std::generic_category().message(errno);
  fail(ErrorCode::bad_file, path, ": ", what, ": ", reason);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 64> text{};
  ::gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

// The line that the holder wrote; it may not have come to that yet.
std::string holder_of(int descriptor) {
  std::array<char, kHolderBytes> text{};
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  std::string line(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  line.resize(std::min(line.find('\n'), line.size()));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line.empty() ? "another program" : line;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& program)
    : folder_(folder), path_(folder + "/" + kFileName) {
  while (!take()) {
  }
  const std::string line = program + ", process " + std::to_string(::getpid()) + " on " +
                           host_name() + ", since " + time_text() + "\n";
  const bool is_written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size());
  if (is_written) {
    remember_unfinished(path_);
    return;
  }
  const int error = errno;
  ::unlink(path_.c_str());
  ::close(descriptor_);
  errno = error;
  refuse(path_, "cannot write");
}

bool FolderLock::take() {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) refuse(path_, "cannot open");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
    if (is_file_at(descriptor_, path_)) return true;
    ::close(descriptor_);
    return false;
  }
  const int error = errno;
  const std::string holder = holder_of(descriptor_);
  ::close(descriptor_);
  errno = error;
  if (error != EWOULDBLOCK) refuse(path_, "cannot lock");
  fail(ErrorCode::usage, folder_, ": in use by ", holder, " (", path_, ")");
}

std::optional<FolderLock> lock_run_folder_of(const std::string& file, const std::string& program) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!std::filesystem::exists(folder / kConfigFile, error)) return std::nullopt;
  return std::optional<FolderLock>(std::in_place, folder.empty() ? "." : folder.string(), program);
}

FolderLock::~FolderLock() {
  forget_unfinished(path_);
  // While it is locked: a successor makes a file of its own.
  if (is_file_at(descriptor_, path_)) ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace winnow
