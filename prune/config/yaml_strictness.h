// YAML that is allowed by its standard and refused here. For the sources of this folder only.
#pragma once

#include <string>

#include "prune/config/yaml_place.h"

namespace winnow {

// Refuses, with file, line and column, what reads as something other than it means: a second
// document, explicit tags (!!str, !), texts with control characters (has_control_characters) or
// bytes that are not UTF-8.
// Throws Error{usage}, and YAML::Exception if `text` is no YAML.
void require_strict_yaml(const std::string& text, const YamlPlaces& places);

}  // namespace winnow
