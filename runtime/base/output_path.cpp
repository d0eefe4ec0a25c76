#include "runtime/base/output_path.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

void require_text(const std::string& path) {
  if (path.empty()) fail(ErrorCode::usage, "the path of an output is empty");
  if (!is_utf8(path)) fail(ErrorCode::usage, in_quotes(path), ": the path is not UTF-8");
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  fail(ErrorCode::usage, path, ": cannot be written: ", reason);
}

// `path` is what shall be written, `folder` what it needs.
void require_writable_folder(const std::string& path, const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) {
    const bool is_missing = !error || error == std::errc::no_such_file_or_directory;
    refuse(path, is_missing ? folder.string() + " is not there" : error.message());
  }
  if (!fs::is_directory(status)) refuse(path, folder.string() + " is no folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(path, folder.string() + ": " + std::generic_category().message(errno));
  }
}

}  // namespace

void require_output_file(const std::string& path) {
  require_text(path);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse(path, "is no regular file");
  const fs::path folder = fs::path(path).parent_path();
  require_writable_folder(path, folder.empty() ? "." : folder);
}

void require_output_folder(const std::string& path) {
  require_text(path);
  fs::path nearest = fs::absolute(path);
  std::error_code ignored;
  while (!fs::exists(fs::symlink_status(nearest, ignored)) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  require_writable_folder(path, nearest);
}

}  // namespace winnow
