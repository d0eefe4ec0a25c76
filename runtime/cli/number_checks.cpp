#include "runtime/cli/number_checks.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

#include "runtime/base/number_text.h"

namespace winnow {
namespace {

constexpr std::size_t kLongestShown = 40;

std::string refusal(const std::string& found, const std::string& expected) {
  const bool is_long = found.size() > kLongestShown;
  const std::string shown = found.empty() ? "nothing" : found.substr(0, kLongestShown);
  return "found " + shown + (is_long ? "..." : "") + ", expected " + expected;
}

// Nothing unless all of `text` is one number that T holds.
template <typename T>
std::optional<T> parsed(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

template <typename T>
CLI::Validator between(T least, T most, const std::string& range, const std::string& in_help) {
  return {[=](std::string& text) {
            const std::optional<T> number = parsed<T>(text);
            const bool is_in_range = number && *number >= least && *number <= most;
            return is_in_range ? "" : refusal(text, "a whole number " + range);
          },
          in_help};
}

template <typename T>
std::string from_to(T least, T most) {
  return "from " + std::to_string(least) + " to " + std::to_string(most);
}

// The power of 1024 of a unit: "", "b", "k", "kb" and "kib" in letters of either case.
std::optional<int> power_of(std::string_view unit) {
  constexpr std::string_view kPrefixes = "kmgtpe";
  std::string small;
  for (const char c : unit) small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (small.empty() || small == "b") return 0;
  const std::size_t prefix = kPrefixes.find(small.front());
  const std::string rest = small.substr(1);
  if (prefix == std::string_view::npos) return std::nullopt;
  if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
  return static_cast<int>(prefix) + 1;
}

std::optional<std::uint64_t> bytes_from(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::size_t unit = std::min(text.find_first_not_of(' ', digits), text.size());
  const auto number = parsed<std::uint64_t>(text.substr(0, digits));
  const auto power = power_of(text.substr(unit));
  if (!number || !power) return std::nullopt;
  const int shift = 10 * *power;
  if (*number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  if (most < std::numeric_limits<std::int64_t>::max()) {
    return between(least, most, from_to(least, most), from_to(least, most));
  }
  const std::string bound = std::to_string(least);
  return between(least, most, "of at least " + bound, "from " + bound);
}

CLI::Validator count_of_32_bits(std::uint32_t least) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  return between(least, kMost, from_to(least, kMost), "from " + std::to_string(least));
}

CLI::Validator seed_number() {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return between(std::uint64_t{0}, kMost, from_to(std::uint64_t{0}, kMost), "from 0");
}

CLI::Validator number_between(double low, double high) {
  const std::string range = "from " + general(low, 6) + " to " + general(high, 6);
  return {[=](std::string& text) {
            const auto number = parsed<double>(text);  // NaN is in no range
            const bool is_in_range = number && *number >= low && *number <= high;
            return is_in_range ? "" : refusal(text, "a number " + range);
          },
          range};
}

CLI::Validator finite_float() {
  return {[](std::string& text) {
            const auto number = parsed<float>(text);
            return number && std::isfinite(*number) ? "" : refusal(text, "a finite number");
          },
          "finite"};
}

CLI::Validator byte_size(std::uint64_t least) {
  return {[=](std::string& text) {
            const auto bytes = bytes_from(text);
            if (!bytes || *bytes < least) {
              return refusal(
                  text, "a size of at least " + std::to_string(least) + " bytes, for example 20GB");
            }
            text = std::to_string(*bytes);
            return std::string();
          },
          "with kB, MB, GB, TB"};
}

}  // namespace winnow
