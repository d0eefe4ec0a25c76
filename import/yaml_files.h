// Graphs and names in YAML files.
#pragma once

#include <string>

#include "import/weights_import.h"

namespace winnow {

// A graph as prune's key model.graph reads it from a file. Throws Error{usage} with line and
// column, Error{bad_file} if it cannot be read, and Error{usage} in a build without yaml-cpp.
Graph read_graph_yaml(const std::string& file);

// A map of names to names, in the same way.
NameMap read_names_yaml(const std::string& file);

}  // namespace winnow
