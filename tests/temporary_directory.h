// A fresh directory that disappears with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "runtime/base/error.h"

namespace winnow {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "winnow-XXXXXX").string();
    if (!mkdtemp(pattern.data())) fail(ErrorCode::internal, pattern, ": cannot make a directory");
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace winnow
