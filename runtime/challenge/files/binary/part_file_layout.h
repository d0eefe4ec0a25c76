// The bytes of header and table, in the order of docs/challenge-files.md.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/challenge/files/binary/part_file.h"

namespace winnow::challenge {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

inline constexpr std::uint64_t kPartAlignment = 64;
inline constexpr std::uint16_t kPartFileMajor = 1;
inline constexpr std::uint16_t kPartFileMinor = 0;
inline constexpr std::uint32_t kPartFileEndianTag = 0x0102'0304;

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

// A byte that is no text, three letters, and line ends that a transfer as text would change.
constexpr std::array<std::uint8_t, 8> magic_of(PartFileKind kind) {
  const std::uint8_t letter = kind == PartFileKind::network ? 'N' : 'I';
  return {0x89, 'W', 'S', letter, '\r', '\n', 0x1a, '\n'};
}

struct PartFileHeader {
  std::array<std::uint8_t, 8> magic{};
  std::uint16_t major = kPartFileMajor;
  std::uint16_t minor = kPartFileMinor;
  std::uint32_t endian_tag = kPartFileEndianTag;
  std::uint32_t needed_features = 0;
  std::uint32_t neurons = 0;
  std::uint32_t count = 0;
  std::uint32_t parts = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;
  std::uint32_t reserved_too = 0;
  std::uint32_t checksum = 0;  // of the header up to here, then of the table
};

struct PartTableEntry {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t form = 0;
  std::uint32_t checksum = 0;
  std::array<std::uint32_t, 6> words{};
};

inline constexpr std::size_t kPartHeaderBytes = 64;
inline constexpr std::size_t kPartEntryBytes = 48;
inline constexpr std::size_t kCheckedPartHeaderBytes = offsetof(PartFileHeader, checksum);
static_assert(sizeof(PartFileHeader) == kPartHeaderBytes && kCheckedPartHeaderBytes == 60);
static_assert(sizeof(PartTableEntry) == kPartEntryBytes);
static_assert(std::has_unique_object_representations_v<PartFileHeader>);
static_assert(std::has_unique_object_representations_v<PartTableEntry>);

}  // namespace winnow::challenge
