#include "runtime/images/class_names.h"

#include <filesystem>
#include <sstream>

#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace winnow {

std::vector<std::string> read_class_names(const std::string& path, std::size_t expected) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  std::istringstream text(read_text_file(path));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (expected != 0 && names.size() != expected) {
    fail(ErrorCode::bad_file, path, ": found ", names.size(), " class names, expected ", expected);
  }
  return names;
}

std::vector<std::string> numbered_classes(std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = std::to_string(i);
  return names;
}

}  // namespace winnow
