#include "runtime/report/json_values.h"

#include <limits>

#include "runtime/base/error.h"

namespace winnow {

std::optional<double> number(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

double number_or_zero(const nlohmann::json& json, const char* key) {
  return number(json, key).value_or(0);
}

std::string text(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> fraction(const nlohmann::json& json, const char* key) {
  const auto value = number(json, key);
  return value ? std::optional(*value / 100) : std::nullopt;
}

std::int64_t count(const nlohmann::json& json, const char* key, std::int64_t least,
                   const std::string& path) {
  const nlohmann::json& value = json.at(key);
  const bool is_in_range = value.is_number_unsigned() &&
                           value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  if (is_in_range && value.get<std::int64_t>() >= least) return value.get<std::int64_t>();
  fail(ErrorCode::bad_file, path, ": '", key, "': found ", value.dump().substr(0, 40),
       ", expected a whole number of at least ", least);
}

}  // namespace winnow
