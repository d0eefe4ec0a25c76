#include "prune/config/yaml_place.h"

namespace winnow {

const std::string* YamlPlaces::argument_of(const std::string& path) const {
  for (const auto& [argument_path, text] : arguments_) {
    if (path == argument_path || path.starts_with(argument_path + ".")) return &text;
  }
  return nullptr;
}

std::string YamlPlaces::of(const YAML::Node& node, const std::string& path) const {
  const std::string* argument = argument_of(path);
  if (argument) return "argument '" + *argument + "'";
  if (node.Mark().is_null()) {  // a section that an argument for a key within it made
    for (const auto& [argument_path, text] : arguments_) {
      if (argument_path.starts_with(path + ".")) return "argument '" + text + "'";
    }
  }
  return at(node.Mark());
}

std::filesystem::path YamlPlaces::folder_of(const std::string& path) const {
  if (argument_of(path)) return {};
  return std::filesystem::path(file_).parent_path();
}

std::string YamlPlaces::at(const YAML::Mark& mark) const {
  if (mark.is_null()) return file_;
  return file_ + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

std::string found(const YAML::Node& node) {
  if (node.IsScalar()) return "'" + node.Scalar() + "'";
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a section" : "nothing";
}

void check_keys(const YAML::Node& section, const std::string& path, const YamlPlaces& places) {
  std::set<std::string> seen;
  for (const auto& entry : section) {
    if (!entry.first.IsScalar()) {
      fail(ErrorCode::usage, places.of(entry.first, path), ": found ", found(entry.first),
           " as a key, expected a name");
    }
    if (!seen.insert(entry.first.Scalar()).second) {
      fail(ErrorCode::usage, places.of(entry.first, path), ": key '", entry.first.Scalar(),
           "' comes twice");
    }
  }
}

}  // namespace winnow
