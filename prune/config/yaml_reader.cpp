#include "prune/config/yaml_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "prune/config/config_keys.h"
#include "prune/config/graph_reader.h"
#include "prune/config/yaml_scalar.h"
#include "runtime/base/suggest.h"

namespace winnow {

void YamlReader::read(const YAML::Node& section, const std::string& path, const YamlPlaces& places,
                      const Body& body) {
  YamlReader reader(section, path, places);
  KeyList known;
  body(known);
  reader.refuse_unknown(known.keys());
  body(reader);
}

YamlReader::YamlReader(const YAML::Node& section, std::string path, const YamlPlaces& places)
    : section_(section), path_(std::move(path)), places_(places) {
  if (section_.IsNull()) return;  // "train:" with nothing behind it: all defaults
  if (!section_.IsMap()) {
    fail(ErrorCode::usage, places_.of(section_, path_), ": ",
         path_.empty() ? "the file" : "'" + path_ + "'", ": found ", found(section_),
         ", expected keys and values");
  }
  check_keys(section_, path_, places_);
}

void YamlReader::refuse_unknown(std::span<const std::string> known) const {
  if (section_.IsNull()) return;
  for (const auto& entry : section_) {
    const std::string& key = entry.first.Scalar();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    fail(ErrorCode::usage, places_.of(entry.first, path_of(key)), ": unknown key '", key, "'",
         path_.empty() ? "" : " in '" + path_ + "'", suggestion(key, known));
  }
}

std::string YamlReader::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

// By comparing texts: yaml-cpp's operator[] would convert keys, and insert on a non-const node.
YAML::Node YamlReader::find(const std::string& key) const {
  if (!section_.IsNull()) {
    for (const auto& entry : section_) {
      if (entry.first.Scalar() == key) return entry.second;
    }
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

void YamlReader::refuse(const YAML::Node& node, const std::string& key,
                        const std::string& expected) const {
  fail(ErrorCode::usage, places_.of(node, path_of(key)), ": '", path_of(key), "': found ",
       found(node), ", expected ", expected);
}

std::string YamlReader::scalar(const YAML::Node& node, const std::string& key,
                               const char* expected) const {
  if (!node.IsScalar()) refuse(node, key, expected);
  return node.Scalar();
}

std::vector<YAML::Node> YamlReader::list(const YAML::Node& node, const std::string& key) const {
  if (!node.IsSequence()) refuse(node, key, "a list");
  return {node.begin(), node.end()};
}

void YamlReader::boolean(const std::string& key, bool& value) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  const auto parsed = parse_boolean(scalar(node, key, "true or false"));
  if (!parsed) refuse(node, key, "true or false");
  value = *parsed;
}

void YamlReader::integer(const std::string& key, std::int64_t& value, const Range& range) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  const std::string allowed = describe(range, key);
  const std::string expected = "an integer" + (allowed.empty() ? "" : " with " + allowed);
  const auto parsed = parse_integer(scalar(node, key, expected.c_str()));
  if (!parsed || !contains(range, static_cast<double>(*parsed))) refuse(node, key, expected);
  value = *parsed;
}

double YamlReader::real_in(const YAML::Node& node, const std::string& key,
                           const Range& range) const {
  const std::string allowed = describe(range, key);
  const std::string expected = "a number" + (allowed.empty() ? "" : " with " + allowed);
  const auto parsed = parse_real(scalar(node, key, expected.c_str()));
  if (!parsed || !contains(range, *parsed)) refuse(node, key, expected);
  return *parsed;
}

void YamlReader::real(const std::string& key, double& value, const Range& range) {
  if (const YAML::Node node = find(key); node.IsDefined()) value = real_in(node, key, range);
}

void YamlReader::count_or_fraction(const std::string& key, double& value, double automatic) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  constexpr char kExpected[] = "a count, a fraction between 0 and 1, or auto";
  const std::string text = scalar(node, key, kExpected);
  const auto count = parse_integer(text);
  const auto number = parse_real(text);
  if (text == "auto") {
    value = automatic;
  } else if (count && contains(kCount, static_cast<double>(*count))) {
    value = static_cast<double>(*count);
  } else if (!count && number && *number > 0 && *number < 1) {
    value = *number;
  } else {
    refuse(node, key, kExpected);
  }
}

void YamlReader::reals(const std::string& key, std::vector<double>& value, const Range& range) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  value.clear();
  for (const YAML::Node& item : list(node, key)) value.push_back(real_in(item, key, range));
}

void YamlReader::text(const std::string& key, std::string& value) {
  if (const YAML::Node node = find(key); node.IsDefined()) value = scalar(node, key, "a text");
}

void YamlReader::file_name(const std::string& key, std::string& value) {
  constexpr char kExpected[] = "a name without '/'";
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  value = scalar(node, key, kExpected);
  const bool is_name =
      !value.empty() && value != "." && value != ".." && value.find('/') == std::string::npos;
  if (!is_name) refuse(node, key, kExpected);
}

void YamlReader::texts(const std::string& key, std::vector<std::string>& value) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  value.clear();
  for (const YAML::Node& item : list(node, key)) value.push_back(scalar(item, key, "texts"));
}

void YamlReader::choice(const std::string& key, std::string& value, Choices choices) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  const std::string name = scalar(node, key, "a name");
  if (std::find(choices.begin(), choices.end(), name) == choices.end()) {
    fail(ErrorCode::usage, places_.of(node, path_of(key)), ": '", path_of(key),
         "': unknown value '", name, "'", suggestion(name, choices));
  }
  value = name;
}

void YamlReader::intervals(const std::string& key, Intervals& value, const Range& range) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  if (!node.IsMap()) refuse(node, key, "names with [lowest, highest]");
  check_keys(node, path_of(key), places_);
  value.clear();
  for (const auto& entry : node) {
    const std::string& name = entry.first.Scalar();
    const std::vector<YAML::Node> ends = list(entry.second, key + "." + name);
    if (ends.size() != 2) refuse(entry.second, key + "." + name, "[lowest, highest]");
    value[name] = {real_in(ends[0], name, range), real_in(ends[1], name, range)};
  }
}

void YamlReader::graph(const std::string& key, std::optional<Graph>& value) {
  const YAML::Node node = find(key);
  if (!node.IsDefined()) return;
  if (node.IsScalar() && !node.Scalar().empty()) {
    value = read_graph_file((places_.folder_of(path_of(key)) / node.Scalar()).string());
  } else {
    value = read_graph(node, path_of(key), places_);
  }
}

void YamlReader::section(const std::string& key, const Body& body) {
  const YAML::Node node = find(key);
  read(node.IsDefined() ? node : YAML::Node(YAML::NodeType::Null), path_of(key), places_, body);
}

}  // namespace winnow
