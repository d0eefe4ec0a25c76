#include "prune/config/json_value.h"

#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {

using Json = nlohmann::json;

JsonValue::JsonValue(const std::string& file, const Json& json, std::string place)
    : file_(&file), json_(&json), place_(std::move(place)) {}

void JsonValue::refuse(const std::string& expected) const {
  const std::string found = json_->is_null() ? "nothing" : json_->dump();
  fail(ErrorCode::bad_file, *file_, ": ", place_, ": found ", in_quotes(found), ", expected ",
       expected);
}

bool JsonValue::is_there() const {
  return !json_->is_null();
}

JsonValue JsonValue::at(const char* key) const {
  static const Json kNothing;
  const auto found = json_->is_object() ? json_->find(key) : json_->end();
  const bool is_member = json_->is_object() && found != json_->end();
  return {*file_, is_member ? *found : kNothing, place_.empty() ? key : place_ + "." + key};
}

std::vector<JsonValue> JsonValue::list() const {
  if (!json_->is_array()) refuse("a list");
  std::vector<JsonValue> values;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    values.push_back({*file_, (*json_)[i], place_ + "[" + std::to_string(i) + "]"});
  }
  return values;
}

std::vector<JsonValue> JsonValue::filled_list() const {
  if (json_->is_array() && json_->empty()) refuse("a list");
  return list();
}

std::string JsonValue::text() const {
  if (!json_->is_string()) refuse("a text");
  return json_->get<std::string>();
}

std::int64_t JsonValue::count() const {
  if (!json_->is_number_integer() || json_->get<std::int64_t>() < 1) refuse("a whole number");
  return json_->get<std::int64_t>();
}

bool JsonValue::flag() const {
  if (!json_->is_null() && !json_->is_boolean()) refuse("true or false");
  return json_->is_boolean() && json_->get<bool>();
}

double JsonValue::number(double above, double most, const char* expected) const {
  const double value = json_->is_number() ? json_->get<double>() : above;
  if (!(value > above && value <= most)) refuse(expected);  // true for NaN
  return value;
}

double JsonValue::ms() const {
  return number(0.0, 1e9, "milliseconds, more than 0");
}

}  // namespace winnow
