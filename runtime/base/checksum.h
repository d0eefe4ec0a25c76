// CRC-32C (Castagnoli), the checksum of every section of a model file. It finds every error of one
// bit and every burst of up to 32 bits; it is no protection against tampering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow {

// RFC 3720, appendix B.4. Chained: crc32c(b, crc32c(a)) is the checksum of a followed by b.
// Uses the processor's CRC instruction where there is one.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

// The same by tables, on any processor.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace winnow
