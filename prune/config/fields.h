// The fields of a configuration, told to whoever visits them: the reader, the writer and the list
// of keys walk the same description (run_config_fields.h), so they cannot disagree.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/model/graph.h"

namespace winnow {

struct Range {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool excludes_lowest = false;
  bool excludes_highest = false;
};

inline constexpr Range kCount = {.lowest = 0, .highest = 1e9};

// "0 <= momentum < 1"; "" if everything is allowed.
std::string describe(const Range& range, const std::string& name);
bool contains(const Range& range, double value);

class Fields {
 public:
  using Body = std::function<void(Fields&)>;
  using Choices = std::span<const std::string>;
  using Intervals = std::map<std::string, std::array<double, 2>>;  // by name: [lowest, highest]

  virtual ~Fields() = default;

  // Each stands for one key. The reader replaces the value where the key is given; the writer
  // prints it.
  virtual void boolean(const std::string& key, bool& value) = 0;
  virtual void integer(const std::string& key, std::int64_t& value, const Range& range) = 0;
  virtual void real(const std::string& key, double& value, const Range& range) = 0;
  // A whole number of 0 or more is a count, a number between 0 and 1 a fraction; `automatic` is the
  // value that stands for "auto".
  virtual void count_or_fraction(const std::string& key, double& value, double automatic) = 0;
  virtual void reals(const std::string& key, std::vector<double>& value, const Range& range) = 0;
  virtual void text(const std::string& key, std::string& value) = 0;
  // A text that can name a file: not empty, "." or "..", and without "/".
  virtual void file_name(const std::string& key, std::string& value) = 0;
  virtual void texts(const std::string& key, std::vector<std::string>& value) = 0;
  // One of `choices`; empty is "not given".
  virtual void choice(const std::string& key, std::string& value, Choices choices) = 0;
  virtual void intervals(const std::string& key, Intervals& value, const Range& range) = 0;
  virtual void graph(const std::string& key, std::optional<Graph>& value) = 0;
  virtual void section(const std::string& key, const Body& body) = 0;
};

template <typename Enum>
struct Named {
  const char* name;
  Enum value;
};

// An enumerator under its name in files.
template <typename Enum, std::size_t kCount>
void enumerator(Fields& fields, const std::string& key, Enum& value,
                const Named<Enum> (&names)[kCount]) {
  std::vector<std::string> choices;
  std::string chosen;
  for (const auto& [name, candidate] : names) {
    choices.push_back(name);
    if (candidate == value) chosen = name;
  }
  fields.choice(key, chosen, choices);
  for (const auto& [name, candidate] : names) {
    if (chosen == name) value = candidate;
  }
}

}  // namespace winnow
