// A value of a JSON file that somebody else may have written, with the place where it stands.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace winnow {

// Reads throw Error{bad_file} with the file, the place, what was found and what was expected. The
// file's name and the JSON must outlive it.
class JsonValue {
 public:
  // `place` is empty at the top.
  JsonValue(const std::string& file, const nlohmann::json& json, std::string place);

  [[noreturn]] void refuse(const std::string& expected) const;

  bool is_there() const;

  // A member of an object; of anything else a value that is not there.
  JsonValue at(const char* key) const;

  std::vector<JsonValue> list() const;         // of any length
  std::vector<JsonValue> filled_list() const;  // at least one
  std::string text() const;
  std::int64_t count() const;  // at least 1
  bool flag() const;           // false where it is not there
  double number(double above, double most, const char* expected) const;  // in (above, most]
  double ms() const;

 private:
  const std::string* file_;
  const nlohmann::json* json_;
  std::string place_;
};

}  // namespace winnow
