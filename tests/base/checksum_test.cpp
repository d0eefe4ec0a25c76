#include "runtime/base/checksum.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace winnow {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

// One bit at a time, straight from the definition.
std::uint32_t crc32c_by_bits(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

}  // namespace

TEST_CASE("crc32c gives the vectors of RFC 3720, appendix B.4") {
  std::vector<std::byte> bytes(32);
  CHECK(crc32c(bytes) == 0x8a9136aau);
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  CHECK(crc32c(bytes) == 0x62a8ab43u);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  CHECK(crc32c(bytes) == 0x46dd794eu);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(31 - i);
  CHECK(crc32c(bytes) == 0x113fdb5cu);
  CHECK(crc32c_by_tables(bytes) == 0x113fdb5cu);
}

TEST_CASE("crc32c gives the check value of the algorithm's catalogue") {
  CHECK(crc32c(bytes_of("123456789")) == 0xe3069283u);
  CHECK(crc32c_by_tables(bytes_of("123456789")) == 0xe3069283u);
  CHECK(crc32c({}) == 0);
  CHECK(crc32c({}, 77) == 77);
}

TEST_CASE("crc32c agrees by instruction, by tables and by bits for all lengths and alignments") {
  const std::vector<std::byte> bytes = random_bytes(300, 1);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t length = 0; length <= 280; ++length) {
      const auto part = std::span(bytes).subspan(begin, length);
      const std::uint32_t expected = crc32c_by_bits(part);
      REQUIRE(crc32c(part) == expected);
      REQUIRE(crc32c_by_tables(part) == expected);
    }
  }
}

TEST_CASE("crc32c of parts, chained, is that of the whole") {
  const std::vector<std::byte> bytes = random_bytes(100, 2);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const auto head = std::span(bytes).first(cut);
    const auto tail = std::span(bytes).subspan(cut);
    REQUIRE(crc32c(tail, crc32c(head)) == crc32c(bytes));
    REQUIRE(crc32c_by_tables(tail, crc32c_by_tables(head)) == crc32c(bytes));
  }
}

TEST_CASE("crc32c notices every flipped bit") {
  std::vector<std::byte> bytes = random_bytes(64, 3);
  const std::uint32_t before = crc32c(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= mask;
    REQUIRE(crc32c(bytes) != before);
    bytes[bit / 8] ^= mask;
  }
}

}  // namespace winnow
