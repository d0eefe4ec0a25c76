#include "prune/config/graph_reader.h"

#include <algorithm>
#include <vector>

#include "prune/config/yaml_document.h"
#include "prune/config/yaml_scalar.h"
#include "runtime/base/suggest.h"
#include "runtime/model/op_schema.h"

namespace winnow {
namespace {

// Reads one map; every message begins with its place.
class GraphReader {
 public:
  GraphReader(const YamlPlaces& places, std::string path)
      : places_(places), path_(std::move(path)) {}

  template <typename... Parts>
  [[noreturn]] void refuse(const YAML::Node& node, const Parts&... parts) const {
    fail(ErrorCode::usage, places_.of(node, path_), ": ", parts...);
  }

  void require_map(const YAML::Node& node, const char* what) const {
    if (!node.IsMap()) refuse(node, what, ": found ", found(node), ", expected keys and values");
    check_keys(node, path_, places_);
  }

  std::string text(const YAML::Node& map, const char* what, const char* key) const {
    const YAML::Node value = map[key];
    if (!value) refuse(map, what, ": key '", key, "' is missing");
    if (!value.IsScalar()) refuse(value, "'", key, "': found ", found(value), ", expected a text");
    return value.Scalar();
  }

  OpValue op_value(const YAML::Node& value, const std::string& key) const {
    if (value.IsSequence()) {
      std::vector<std::int64_t> list;
      for (const auto& item : value) list.push_back(integer(item, key));
      return list;
    }
    if (!value.IsScalar()) refuse(value, "'", key, "': found ", found(value), ", expected a value");
    const std::string& scalar = value.Scalar();
    if (const auto flag = parse_boolean(scalar)) return *flag;
    if (const auto whole = parse_integer(scalar)) return *whole;
    if (const auto number = parse_real(scalar)) return *number;
    refuse(value, "'", key, "': found '", scalar, "', expected a number, true, false or a list");
  }

  std::vector<std::string> names(const YAML::Node& value) const {
    if (value.IsScalar()) return {value.Scalar()};
    if (!value.IsSequence()) refuse(value, "'inputs': found ", found(value), ", expected a list");
    std::vector<std::string> list;
    for (const auto& item : value) {
      if (!item.IsScalar()) refuse(item, "'inputs': found ", found(item), ", expected a name");
      list.push_back(item.Scalar());
    }
    return list;
  }

  Node node(const YAML::Node& map, const std::string& previous) const {
    require_map(map, "node");
    Node result;
    result.name = text(map, "node", "name");
    if (!previous.empty()) result.inputs = {previous};
    OpSettings settings;
    for (const auto& entry : map) {
      const std::string& key = entry.first.Scalar();
      if (key == "inputs") result.inputs = names(entry.second);
      if (key == "name" || key == "op" || key == "inputs") continue;
      settings.emplace(key, op_value(entry.second, key));
    }
    std::variant<Op, OpDefect> built = build_op(text(map, "node", "op"), settings);
    if (const auto* defect = std::get_if<OpDefect>(&built)) {
      refuse(defect->key.empty() ? map : key_of(map, defect->key), "node '", result.name,
             "': ", defect->message);
    }
    result.op = std::get<Op>(std::move(built));
    return result;
  }

 private:
  std::int64_t integer(const YAML::Node& item, const std::string& key) const {
    const auto value = item.IsScalar() ? parse_integer(item.Scalar()) : std::nullopt;
    if (!value) refuse(item, "'", key, "': found ", found(item), ", expected an integer");
    return *value;
  }

  static YAML::Node key_of(const YAML::Node& map, const std::string& key) {
    for (const auto& entry : map) {
      if (entry.first.Scalar() == key) return entry.first;
    }
    return map;
  }

  const YamlPlaces& places_;
  std::string path_;
};

}  // namespace

Graph read_graph(const YAML::Node& node, const std::string& path, const YamlPlaces& places) {
  const GraphReader reader(places, path);
  reader.require_map(node, "graph");
  const std::vector<std::string> known = {"name", "nodes"};
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      reader.refuse(entry.first, "graph: unknown key '", key, "'", suggestion(key, known));
    }
  }
  Graph graph;
  graph.name = reader.text(node, "graph", "name");
  const YAML::Node nodes = node["nodes"];
  if (!nodes || !nodes.IsSequence()) reader.refuse(node, "graph: key 'nodes' is no list");
  for (const auto& item : nodes) {
    graph.nodes.push_back(reader.node(item, graph.nodes.empty() ? "" : graph.nodes.back().name));
  }
  try {
    fill_input_sizes(graph);
  } catch (const Error& error) {
    reader.refuse(node, error.what());
  }
  return graph;
}

Graph read_graph_file(const std::string& file) {
  const YamlDocument document = load_yaml_file(file);
  return read_graph(document.root, "", document.places);
}

}  // namespace winnow
