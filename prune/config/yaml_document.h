// A whole YAML file. For the sources of this folder only.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "prune/config/yaml_place.h"

namespace winnow {

struct YamlDocument {
  YAML::Node root;
  YamlPlaces places;
};

// Throws Error{bad_file} if the file cannot be read or exceeds 1 MiB, Error{usage} with the place
// if it is not YAML or not strict (yaml_strictness.h).
YamlDocument load_yaml_file(const std::string& file);

// Sets one value from a command line argument "train.epochs=3". Sections on the way are made where
// they are missing. Throws Error{usage} if it has no '=', no key, or runs through a value.
void apply_override(YamlDocument& document, const std::string& argument);

}  // namespace winnow
