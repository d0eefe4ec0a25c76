#include "prune/config/yaml_document.h"

#include <sstream>

#include "prune/config/yaml_strictness.h"
#include "runtime/base/file.h"

namespace winnow {
namespace {

YAML::Node parse(const std::string& text, const std::string& place) {
  const YamlPlaces places(place);
  try {
    require_strict_yaml(text, places);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    fail(ErrorCode::usage, places.at(error.mark), ": not YAML: ", error.msg);
  }
}

// The value under `key`, which is compared as text; made if it is missing.
YAML::Node child(YAML::Node section, const std::string& key) {
  for (auto entry : section) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key) return entry.second;
  }
  YAML::Node value(YAML::NodeType::Null);  // exists at once, so copies share it
  section.force_insert(key, value);
  return value;
}

}  // namespace

YamlDocument load_yaml_file(const std::string& file) {
  YamlDocument document{parse(read_text_file(file), file), YamlPlaces(file)};
  if (document.root.IsNull()) document.root = YAML::Node(YAML::NodeType::Map);
  return document;
}

void apply_override(YamlDocument& document, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string path = argument.substr(0, equals);
  if (equals == std::string::npos || path.empty()) {
    fail(ErrorCode::usage, "argument '", argument, "': expected key=value, such as train.epochs=3");
  }
  YAML::Node node = document.root;
  std::istringstream keys(path);
  for (std::string key; std::getline(keys, key, '.');) {
    if (!node.IsMap() && !node.IsNull()) {
      fail(ErrorCode::usage, "argument '", argument, "': '", key, "' would lie inside a value");
    }
    node.reset(child(node, key));
  }
  const YAML::Node value = parse(argument.substr(equals + 1), "argument '" + argument + "'");
  node = value;  // assigns the content, so that the document sees it
  document.places.add_argument(path, argument);
}

}  // namespace winnow
