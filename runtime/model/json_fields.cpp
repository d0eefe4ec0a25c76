#include "runtime/model/json_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

// A value in a message: numbers as they are, of others the type only.
std::string described(const Json& value) {
  return value.is_number() ? value.dump() : value.type_name();
}

}  // namespace

std::string dump_json(const Json& value, const std::string& place) {
  try {
    return value.dump();
  } catch (const Json::type_error&) {
    fail(ErrorCode::usage, place, ": a name or text is not valid UTF-8");
  }
}

JsonFields::JsonFields(const Json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (!object_.is_object()) {
    fail(ErrorCode::bad_file, place_, ": expected a JSON object, found ", object_.type_name());
  }
}

const Json& JsonFields::value(const std::string& key) {
  known_.push_back(key);
  const auto found = object_.find(key);
  if (found == object_.end())
    fail(ErrorCode::bad_file, place_, ": field ", in_quotes(key), " is missing");
  return *found;
}

const Json& JsonFields::value_of_type(const std::string& key, Json::value_t type) {
  const Json& found = value(key);
  if (found.type() != type) {
    fail(ErrorCode::bad_file, place_, ": field ", in_quotes(key), " is ", found.type_name(),
         ", expected ", Json(type).type_name());
  }
  return found;
}

std::int64_t JsonFields::integer_in(const Json& found, const std::string& key, std::int64_t low,
                                    std::int64_t high) const {
  const bool fits = found.is_number_integer() &&
                    (!found.is_number_unsigned() ||
                     found.get<std::uint64_t>() <=
                         static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!fits || found.get<std::int64_t>() < low || found.get<std::int64_t>() > high) {
    fail(ErrorCode::bad_file, place_, ": field ", in_quotes(key), " is ", described(found),
         ", expected an integer from ", low, " to ", high);
  }
  return found.get<std::int64_t>();
}

std::int64_t JsonFields::integer(const std::string& key, std::int64_t low, std::int64_t high) {
  return integer_in(value(key), key, low, high);
}

std::vector<float> JsonFields::floats(const std::string& key) {
  std::vector<float> result;
  for (const Json& item : value_of_type(key, Json::value_t::array)) {
    const double number = item.is_number() ? item.get<double>() : HUGE_VAL;
    if (!(std::abs(number) <= std::numeric_limits<float>::max())) {
      fail(ErrorCode::bad_file, place_, ": field ", in_quotes(key), " holds ", described(item),
           ", expected 32-bit floats");
    }
    result.push_back(static_cast<float>(number));
  }
  return result;
}

std::vector<std::string> JsonFields::strings(const std::string& key) {
  std::vector<std::string> result;
  for (const Json& item : value_of_type(key, Json::value_t::array)) {
    if (!item.is_string()) {
      fail(ErrorCode::bad_file, place_, ": field ", in_quotes(key), " holds ", item.type_name(),
           ", expected strings");
    }
    result.push_back(item.get<std::string>());
  }
  return result;
}

std::map<std::string, int> JsonFields::integers(const std::string& key, int low, int high) {
  std::map<std::string, int> result;
  for (const auto& [name, item] : value_of_type(key, Json::value_t::object).items()) {
    result[name] = static_cast<int>(integer_in(item, key + "." + name, low, high));
  }
  return result;
}

std::map<std::string, std::string> JsonFields::string_map(const std::string& key) {
  std::map<std::string, std::string> result;
  for (const auto& [name, item] : value_of_type(key, Json::value_t::object).items()) {
    if (!item.is_string()) {
      fail(ErrorCode::bad_file, place_, ": field ", in_quotes(key + "." + name), " is ",
           item.type_name(), ", expected a string");
    }
    result[name] = item.get<std::string>();
  }
  return result;
}

void JsonFields::finish() const {
  for (const auto& [name, item] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      fail(ErrorCode::bad_file, place_, ": unknown field ", in_quotes(name),
           suggestion(name, known_));
    }
  }
}

}  // namespace winnow
