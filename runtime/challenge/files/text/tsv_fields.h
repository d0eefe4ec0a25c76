// The fields of a line of a TSV file. In a header for speed: the largest files have 4e8 lines.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace winnow::challenge {

// Takes fields off the front of a line. Each function says whether it found what it looks for.
class Fields {
 public:
  explicit Fields(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  // A number from 1 to `most` in digits alone, given as one from 0.
  bool index(std::uint32_t most, std::uint32_t& value) {
    constexpr std::ptrdiff_t kMostDigits = 10;
    const char* const first = at_;
    std::uint64_t number = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9' && at_ - first < kMostDigits; ++at_) {
      number = 10 * number + static_cast<std::uint64_t>(*at_ - '0');
    }
    value = static_cast<std::uint32_t>(number - 1);
    return number >= 1 && number <= most;
  }

  bool tab() { return at_ != end_ && *at_++ == '\t'; }
  bool is_done() const { return at_ == end_; }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  const char* at_;
  const char* end_;
};

// Decimal numbers to the nearest float. Remembers the last one: mostly all are equal.
class FloatReader {
 public:
  // False unless `text` is one finite number and nothing else.
  bool read(std::string_view text, float& value) {
    if (text != text_) {
      const char* const end = text.data() + text.size();
      float parsed = 0;
      const auto result = std::from_chars(text.data(), end, parsed);
      if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(parsed)) return false;
      text_ = text;
      value_ = parsed;
    }
    value = value_;
    return !text.empty();
  }

 private:
  std::string text_;
  float value_ = 0;
};

}  // namespace winnow::challenge
