// The fields of a JSON document, for the reference page.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace winnow {

// "layers[].name" -> {"string"}: every field and the types that its values have.
using JsonFieldTypes = std::map<std::string, std::set<std::string>>;

inline std::string json_type(const nlohmann::ordered_json& value) {
  return value.is_number() ? "number" : value.type_name();
}

// Whether the keys of this object are names of layers.
inline bool is_by_layer(const std::string& path) {
  return path == "kept" || path == "sensitivity" || path == "sparsities";
}

// Adds the fields of `value`, whose own path is `path`. The keys of "metadata" are the user's.
inline void add_fields(const nlohmann::ordered_json& value, const std::string& path,
                       JsonFieldTypes& fields) {
  if (!path.empty()) fields[path].insert(json_type(value));
  if (value.is_object() && !path.ends_with("metadata")) {
    for (const auto& [key, inner] : value.items()) {
      const std::string name = is_by_layer(path) ? "LAYER" : key;
      add_fields(inner, path + (path.empty() ? "" : ".") + name, fields);
    }
  } else if (value.is_array()) {
    for (const auto& inner : value) add_fields(inner, path + "[]", fields);
  }
}

// A table of Markdown, by name: the fields of one document, or of several of one kind.
inline std::string field_table(const std::vector<nlohmann::ordered_json>& documents) {
  JsonFieldTypes fields;
  for (const auto& document : documents) add_fields(document, "", fields);
  std::string table = "| field | type |\n|---|---|\n";
  for (const auto& [path, types] : fields) {
    std::string names;
    for (const std::string& type : types) names += (names.empty() ? "" : " or ") + type;
    table += "| `" + path + "` | " + names + " |\n";
  }
  return table;
}

}  // namespace winnow
