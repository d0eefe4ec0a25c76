#include "import/yaml_files.h"

#include "prune/config/graph_reader.h"
#include "prune/config/yaml_document.h"

namespace winnow {

Graph read_graph_yaml(const std::string& file) {
  return read_graph_file(file);
}

NameMap read_names_yaml(const std::string& file) {
  const YamlDocument document = load_yaml_file(file);
  const auto refuse = [&](const YAML::Node& node, const char* expected) {
    fail(ErrorCode::usage, document.places.of(node, ""), ": found ", found(node), ", expected ",
         expected);
  };
  if (!document.root.IsMap()) refuse(document.root, "a map of names to names");
  check_keys(document.root, "", document.places);
  NameMap names;
  for (const auto& entry : document.root) {
    if (!entry.second.IsScalar()) refuse(entry.second, "a name");
    names.emplace(entry.first.Scalar(), entry.second.Scalar());
  }
  return names;
}

}  // namespace winnow
