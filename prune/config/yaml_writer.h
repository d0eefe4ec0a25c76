// Writes the fields of a configuration as YAML.
#pragma once

#include <string>

#include "prune/config/fields.h"

namespace winnow {

class YamlWriter : public Fields {
 public:
  explicit YamlWriter(int indent = 0) : indent_(static_cast<std::size_t>(indent), ' ') {}

  const std::string& text() const { return text_; }

  void boolean(const std::string& key, bool& value) override;
  void integer(const std::string& key, std::int64_t& value, const Range&) override;
  void real(const std::string& key, double& value, const Range&) override;
  void count_or_fraction(const std::string& key, double& value, double automatic) override;
  void reals(const std::string& key, std::vector<double>& value, const Range&) override;
  void text(const std::string& key, std::string& value) override;
  void file_name(const std::string& key, std::string& value) override;
  void texts(const std::string& key, std::vector<std::string>& value) override;
  void choice(const std::string& key, std::string& value, Choices) override;
  void intervals(const std::string& key, Intervals& value, const Range&) override;
  void graph(const std::string& key, std::optional<Graph>& value) override;
  void section(const std::string& key, const Body& body) override;

 private:
  void line(const std::string& key, const std::string& value);

  std::string indent_;
  std::string text_;
};

}  // namespace winnow
