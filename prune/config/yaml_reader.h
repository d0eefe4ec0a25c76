// Reads the fields of a configuration from YAML, strictly. For the sources of this folder only.
#pragma once

#include <yaml-cpp/yaml.h>

#include "prune/config/fields.h"
#include "prune/config/yaml_place.h"

namespace winnow {

// One section. Every refusal is Error{usage} and names the place, what was found and what was
// expected.
class YamlReader : public Fields {
 public:
  // Lets `body` read its keys from `section`, a map or nothing; refuses keys that it does not ask
  // for. `path` is the section's dotted path, empty at the top.
  static void read(const YAML::Node& section, const std::string& path, const YamlPlaces& places,
                   const Body& body);

  void boolean(const std::string& key, bool& value) override;
  void integer(const std::string& key, std::int64_t& value, const Range& range) override;
  void real(const std::string& key, double& value, const Range& range) override;
  void count_or_fraction(const std::string& key, double& value, double automatic) override;
  void reals(const std::string& key, std::vector<double>& value, const Range& range) override;
  void text(const std::string& key, std::string& value) override;
  void file_name(const std::string& key, std::string& value) override;
  void texts(const std::string& key, std::vector<std::string>& value) override;
  void choice(const std::string& key, std::string& value, Choices choices) override;
  void intervals(const std::string& key, Intervals& value, const Range& range) override;
  void graph(const std::string& key, std::optional<Graph>& value) override;
  void section(const std::string& key, const Body& body) override;

 private:
  YamlReader(const YAML::Node& section, std::string path, const YamlPlaces& places);

  void refuse_unknown(std::span<const std::string> known) const;
  std::string path_of(const std::string& key) const;
  YAML::Node find(const std::string& key) const;  // undefined if absent
  std::string scalar(const YAML::Node& node, const std::string& key, const char* expected) const;
  std::vector<YAML::Node> list(const YAML::Node& node, const std::string& key) const;
  double real_in(const YAML::Node& node, const std::string& key, const Range& range) const;
  [[noreturn]] void refuse(const YAML::Node& node, const std::string& key,
                           const std::string& expected) const;

  const YAML::Node section_;
  std::string path_;
  const YamlPlaces& places_;
};

}  // namespace winnow
