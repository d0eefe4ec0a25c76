// Scalars of YAML, strictly: `yes`, `0x10`, `010`, `1_000` and `.inf` are no booleans and numbers
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace winnow {

std::optional<bool> parse_boolean(const std::string& text);          // true or false
std::optional<std::int64_t> parse_integer(const std::string& text);  // decimal
std::optional<double> parse_real(const std::string& text);           // finite

// The shortest text that parse_real reads back as `value`.
std::string format_real(double value);

// `text` as a YAML scalar, quoted where it must be.
std::string format_text(const std::string& text);

}  // namespace winnow
