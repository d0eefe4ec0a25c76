#include "runtime/model/graph_json.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/op_schema.h"
#include "runtime/model/strict_json.h"

namespace winnow {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

const OpSchema& schema_of(const Op& op) {
  const std::string name = op_name(op);
  for (const OpSchema& schema : op_schemas()) {
    if (schema.op == name) return schema;
  }
  fail(ErrorCode::internal, "op '", name, "' is not in the table");
}

// Keys in the table's order.
OrderedJson node_to_json(const Node& node) {
  OrderedJson json = {{"name", node.name}, {"op", op_name(node.op)}};
  if (!node.inputs.empty()) json["inputs"] = node.inputs;
  const OpSettings settings = settings_of(node.op);
  for (const OpKey& key : schema_of(node.op).keys) {
    if (key.presence == KeyPresence::seldom && !settings.contains(key.name)) continue;
    std::visit([&](const auto& value) { json[key.name] = value; }, settings.at(key.name));
  }
  return json;
}

// One object of the text and where it stands.
class JsonPlace {
 public:
  JsonPlace(std::string_view file, std::string path) : file_(file), path_(std::move(path)) {}

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::bad_file, file_, ": ", path_, parts...);
  }

  const Json& member(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) refuse("key '", key, "' is missing");
    return *found;
  }

  const std::string& text(const Json& value, const char* key) const {
    if (!value.is_string()) refuse("key '", key, "': found ", found(value), ", expected a string");
    return value.get_ref<const std::string&>();
  }

  const Json& array(const Json& value, const char* key) const {
    if (!value.is_array()) refuse("key '", key, "': found ", found(value), ", expected a list");
    return value;
  }

  std::int64_t integer(const Json& value, const std::string& key) const {
    if (!value.is_number_integer()) {
      refuse("key ", in_quotes(key), ": found ", found(value), ", expected an integer");
    }
    // The parser keeps what is not negative as unsigned.
    const bool is_large = value.is_number_unsigned() &&
                          value.get<std::uint64_t>() >
                              static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (is_large) refuse("key ", in_quotes(key), ": ", found(value), " is out of range");
    return value.get<std::int64_t>();
  }

  static std::string found(const Json& value) {
    if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
    return value.is_structured() ? value.is_array() ? "a list" : "an object" : value.dump();
  }

 private:
  std::string_view file_;
  std::string path_;
};

OpValue op_value(const JsonPlace& place, const std::string& key, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) return value.get<double>();
  if (!value.is_array()) return place.integer(value, key);
  std::vector<std::int64_t> list;
  for (const Json& item : value) list.push_back(place.integer(item, key));
  return list;
}

Node node_from_json(std::string_view file, std::size_t index, const Json& json) {
  const JsonPlace by_index(file, "node " + std::to_string(index) + ": ");
  if (!json.is_object()) by_index.refuse("found ", JsonPlace::found(json), ", expected an object");
  Node node;
  node.name = by_index.text(by_index.member(json, "name"), "name");
  const JsonPlace place(file, "node " + in_quotes(node.name) + ": ");
  const std::string& op = place.text(place.member(json, "op"), "op");
  OpSettings settings;
  for (const auto& [key, value] : json.items()) {
    if (key == "name" || key == "op") continue;
    if (key == "inputs") {
      for (const Json& name : place.array(value, "inputs")) {
        node.inputs.push_back(place.text(name, "inputs"));
      }
    } else {
      settings.emplace(key, op_value(place, key, value));
    }
  }
  std::variant<Op, OpDefect> built = build_op(op, settings);
  if (const auto* defect = std::get_if<OpDefect>(&built)) place.refuse(defect->message);
  node.op = std::get<Op>(std::move(built));
  return node;
}

void require_graph_keys(const JsonPlace& place, const Json& json) {
  if (!json.is_object()) place.refuse("found ", JsonPlace::found(json), ", expected an object");
  const std::vector<std::string> known = {"name", "nodes"};
  for (const auto& [key, value] : json.items()) {
    if (key == known[0] || key == known[1]) continue;
    place.refuse("key ", in_quotes(key), " is unknown", suggestion(key, known));
  }
}

}  // namespace

std::string graph_to_json(const Graph& graph) {
  OrderedJson json = {{"name", graph.name}, {"nodes", OrderedJson::array()}};
  for (const Node& node : graph.nodes) json["nodes"].push_back(node_to_json(node));
  return json.dump();
}

Graph graph_from_json(std::string_view text, std::string_view place) {
  const Json json = parse_strict_json(text, place);
  const JsonPlace top(place, "");
  require_graph_keys(top, json);
  Graph graph;
  graph.name = top.text(top.member(json, "name"), "name");
  for (const Json& node : top.array(top.member(json, "nodes"), "nodes")) {
    graph.nodes.push_back(node_from_json(place, graph.nodes.size(), node));
  }
  try {
    infer_shapes(graph, 1);
  } catch (const Error& error) {
    fail(ErrorCode::bad_file, place, ": ", error.what());
  }
  return graph;
}

}  // namespace winnow
