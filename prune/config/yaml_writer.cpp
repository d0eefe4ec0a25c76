#include "prune/config/yaml_writer.h"

#include "prune/config/yaml_scalar.h"
#include "runtime/model/graph_json.h"

namespace winnow {
namespace {

template <typename Item, typename Format>
std::string list(const std::vector<Item>& items, Format format) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ", ") + format(item);
  return "[" + text + "]";
}

}  // namespace

void YamlWriter::line(const std::string& key, const std::string& value) {
  text_ += indent_ + key + ": " + value + "\n";
}

void YamlWriter::boolean(const std::string& key, bool& value) {
  line(key, value ? "true" : "false");
}

void YamlWriter::integer(const std::string& key, std::int64_t& value, const Range&) {
  line(key, std::to_string(value));
}

void YamlWriter::real(const std::string& key, double& value, const Range&) {
  line(key, format_real(value));
}

void YamlWriter::count_or_fraction(const std::string& key, double& value, double automatic) {
  const bool is_fraction = value > 0 && value < 1;
  line(key, value == automatic ? "auto"
            : is_fraction      ? format_real(value)
                               : std::to_string(static_cast<std::int64_t>(value)));
}

void YamlWriter::reals(const std::string& key, std::vector<double>& value, const Range&) {
  line(key, list(value, format_real));
}

void YamlWriter::text(const std::string& key, std::string& value) {
  line(key, format_text(value));
}

void YamlWriter::file_name(const std::string& key, std::string& value) {
  text(key, value);
}

void YamlWriter::texts(const std::string& key, std::vector<std::string>& value) {
  line(key, list(value, format_text));
}

void YamlWriter::choice(const std::string& key, std::string& value, Choices) {
  if (!value.empty()) line(key, format_text(value));
}

void YamlWriter::intervals(const std::string& key, Intervals& value, const Range&) {
  std::string text;
  for (const auto& [name, interval] : value) {
    text += (text.empty() ? "" : ", ") + format_text(name) + ": [" + format_real(interval[0]) +
            ", " + format_real(interval[1]) + "]";
  }
  line(key, "{" + text + "}");
}

// JSON is YAML in flow style.
void YamlWriter::graph(const std::string& key, std::optional<Graph>& value) {
  if (value) line(key, graph_to_json(*value));
}

void YamlWriter::section(const std::string& key, const Body& body) {
  YamlWriter inner(static_cast<int>(indent_.size()) + 2);
  body(inner);
  text_ += indent_ + key + (inner.text_.empty() ? ": {}\n" : ":\n") + inner.text_;
}

}  // namespace winnow
