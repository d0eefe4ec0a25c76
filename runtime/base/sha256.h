// SHA-256 (FIPS 180-4): short names for long results that two machines can compare.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace winnow {

// As sha256sum prints it: 64 digits, lower case.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

}  // namespace winnow
