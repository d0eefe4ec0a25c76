// The fields of JSON objects that come from files, read with strict types and known keys. For the
// sources of this folder only; no public header shows JSON.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace winnow {

// Compact text, keys sorted. Throws Error{usage} for strings that are not UTF-8.
std::string dump_json(const nlohmann::json& value, const std::string& place);

// The fields of one object, each asked for by name. Every method throws Error{bad_file} if the
// field is missing or of another type or range.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string place);

  bool has(const std::string& key) const { return object_.contains(key); }
  const nlohmann::json& value(const std::string& key);
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high);
  std::vector<float> floats(const std::string& key);
  std::vector<std::string> strings(const std::string& key);
  std::map<std::string, int> integers(const std::string& key, int low, int high);
  std::map<std::string, std::string> string_map(const std::string& key);

  // Refuses fields that were not asked for.
  void finish() const;

 private:
  std::int64_t integer_in(const nlohmann::json& found, const std::string& key, std::int64_t low,
                          std::int64_t high) const;
  const nlohmann::json& value_of_type(const std::string& key, nlohmann::json::value_t type);

  const nlohmann::json& object_;
  std::string place_;
  std::vector<std::string> known_;
};

}  // namespace winnow
