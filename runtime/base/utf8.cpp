#include "runtime/base/utf8.h"

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
  const auto byte_at = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint8_t byte = byte_at(i), next = byte_at(i + 1), third = byte_at(i + 2);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) return true;
    if (byte == 0xe2 && next == 0x80 && (third == 0xa8 || third == 0xa9)) return true;
  }
  return false;
}

}  // namespace winnow
