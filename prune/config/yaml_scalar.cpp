#include "prune/config/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace winnow {
namespace {

// "010" is 8 to some programs and 10 to others.
bool has_leading_zero(const char* begin, const char* end) {
  if (begin != end && *begin == '-') ++begin;
  return end - begin > 1 && begin[0] == '0' && std::isdigit(static_cast<unsigned char>(begin[1]));
}

template <typename Number>
std::optional<Number> parse_whole(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+' && ++begin != end && *begin == '-') return std::nullopt;
  if (has_leading_zero(begin, end)) return std::nullopt;
  Number value{};
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool is_plain(const std::string& text) {
  static constexpr std::array kReserved = {"true", "false", "null", "yes", "no", "on", "off", "y"};
  if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '/')) {
    return false;
  }
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(kReserved.begin(), kReserved.end(), lower) != kReserved.end()) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

}  // namespace

std::optional<bool> parse_boolean(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(const std::string& text) {
  return parse_whole<std::int64_t>(text);
}

std::optional<double> parse_real(const std::string& text) {
  const auto value = parse_whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string format_real(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

std::string format_text(const std::string& text) {
  if (is_plain(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace winnow
