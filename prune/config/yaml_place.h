// A YAML document and the places of its values, for messages. For the sources of this folder only.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"

namespace winnow {

// What messages call a value: "configs/a.yaml:12:5", or "argument 'train.epochs=x'" if it came from
// the command line.
class YamlPlaces {
 public:
  explicit YamlPlaces(std::string file) : file_(std::move(file)) {}

  void add_argument(const std::string& path, const std::string& text) {
    arguments_.emplace_back(path, text);
  }

  // `path` is the dotted path of the value whose node is given.
  std::string of(const YAML::Node& node, const std::string& path) const;

  // Where a relative path that is the value begins: the file's folder, and the current one for a
  // value from the command line.
  std::filesystem::path folder_of(const std::string& path) const;

  // A place in the text.
  std::string at(const YAML::Mark& mark) const;

  const std::string& file() const { return file_; }

 private:
  // The whole argument that gave the value; null if none did.
  const std::string* argument_of(const std::string& path) const;

  std::string file_;
  std::vector<std::pair<std::string, std::string>> arguments_;  // dotted path, whole argument
};

// How messages call what was found: "'abc'", "a list", "a section", "nothing".
std::string found(const YAML::Node& node);

// Refuses keys that are no plain scalars or come twice. `path` is the section's.
void check_keys(const YAML::Node& section, const std::string& path, const YamlPlaces& places);

}  // namespace winnow
