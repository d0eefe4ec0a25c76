// Run folders that are made up.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"

namespace winnow {

class RunFolders {
 public:
  // With these files: names and texts. What is empty is left out. Returns the folder.
  std::string add(const std::string& name,
                  const std::vector<std::pair<std::string, std::string>>& files) const {
    const std::string folder = directory / name;
    std::filesystem::create_directory(folder);
    for (const auto& [file, text] : files) {
      if (!text.empty()) write_file_atomically(folder + "/" + file, text);
    }
    return folder;
  }
  TemporaryDirectory directory;
};

}  // namespace winnow
