// Values of JSON objects that other programs wrote.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace winnow {

// Nothing where the key is missing or its value is no number.
std::optional<double> number(const nlohmann::json& json, const char* key);
double number_or_zero(const nlohmann::json& json, const char* key);

// A number of percent as a fraction.
std::optional<double> fraction(const nlohmann::json& json, const char* key);

// "" where the key is missing or its value is no string.
std::string text(const nlohmann::json& json, const char* key);

// A whole number of at least `least`. Throws Error{bad_file} with `path`, key and value for another
// one.
std::int64_t count(const nlohmann::json& json, const char* key, std::int64_t least,
                   const std::string& path);

}  // namespace winnow
