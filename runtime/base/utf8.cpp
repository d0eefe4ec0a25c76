#include "runtime/base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace winnow {
namespace {

// Bytes that follow a leading byte; -1 if it leads nothing.
int followers(std::uint8_t lead) {
  if (lead < 0x80) return 0;
  if (lead >= 0xc2 && lead < 0xe0) return 1;
  if (lead >= 0xe0 && lead < 0xf0) return 2;
  return lead >= 0xf0 && lead < 0xf5 ? 3 : -1;
}

// The second byte of a character is bounded more closely than the others where the leading byte
// alone would allow longer forms than needed, surrogates or numbers too large.
bool is_second(std::uint8_t lead, std::uint8_t byte) {
  const std::uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return byte >= low && byte <= high;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const int count = followers(lead);
    if (count < 0 || text.size() - i <= static_cast<std::size_t>(count)) return false;
    for (int k = 1; k <= count; ++k) {
      const auto byte = static_cast<std::uint8_t>(text[i + static_cast<std::size_t>(k)]);
      if (k == 1 ? !is_second(lead, byte) : (byte & 0xc0) != 0x80) return false;
    }
    i += static_cast<std::size_t>(count) + 1;
  }
  return true;
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

}  // namespace winnow
