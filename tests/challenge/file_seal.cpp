#include "tests/challenge/file_seal.h"

#include <algorithm>
#include <array>

#include "runtime/base/checksum.h"
#include "runtime/base/file.h"
#include "runtime/challenge/files/binary/part_file_layout.h"

namespace winnow::challenge {
namespace {

constexpr std::size_t kFileBytesAt = offsetof(PartFileHeader, file_bytes);

PartFileHeader header_of(const FileBytes& file) {
  PartFileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

void seal_part(FileBytes& file, std::size_t entry_at) {
  PartTableEntry entry;
  std::memcpy(&entry, file.data() + entry_at, sizeof(entry));
  if (entry.offset > file.size() || entry.bytes > file.size() - entry.offset) return;
  entry.checksum = crc32c(std::span(file).subspan(entry.offset, entry.bytes));
  std::memcpy(file.data() + entry_at, &entry, sizeof(entry));
}

std::uint64_t awkward_number(Random& random) {
  constexpr std::array<std::uint64_t, 11> kNumbers = {0,
                                                      1,
                                                      255,
                                                      256,
                                                      65535,
                                                      65536,
                                                      0x7fff'ffff,
                                                      0x8000'0000,
                                                      0xffff'ffff,
                                                      0x1'0000'0000,
                                                      ~std::uint64_t{0}};
  if (random.chance(0.4)) return kNumbers[random.below(kNumbers.size())];
  return random.chance(0.5) ? random.below(64) : random.bits() >> random.below(64);
}

void change_number(FileBytes& file, Random& random) {
  const std::size_t size = std::size_t{1} << random.below(4);
  // Half of the changes go into header and table, where the sizes are.
  const auto head = std::min<std::size_t>(
      file.size(), kPartHeaderBytes + header_of(file).parts * kPartEntryBytes);
  const std::size_t end = random.chance(0.5) ? head : file.size();
  const std::size_t at = random.below(end / size) * size;
  const std::uint64_t number = awkward_number(random);
  std::memcpy(file.data() + at, &number, size);
}

void change_length(FileBytes& file, Random& random) {
  const std::size_t at = kPartHeaderBytes + random.below(file.size() - kPartHeaderBytes + 1);
  const auto place = file.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t count = random.chance(0.5) ? kPartAlignment : random.below(80);
  if (random.chance(0.5)) {
    file.insert(place, count, static_cast<std::byte>(random.below(256)));
  } else {
    file.erase(place, place + static_cast<std::ptrdiff_t>(std::min(count, file.size() - at)));
  }
  const std::uint64_t size = file.size();
  std::memcpy(file.data() + kFileBytesAt, &size, sizeof(size));
}

}  // namespace

FileBytes file_bytes(const std::string& path) {
  const MappedFile file(path);
  return {file.bytes().begin(), file.bytes().end()};
}

FileBytes sealed(FileBytes file) {
  const std::uint64_t room = (file.size() - kPartHeaderBytes) / kPartEntryBytes;
  const std::size_t parts = std::min<std::uint64_t>(header_of(file).parts, room);
  for (std::size_t i = 0; i < parts; ++i) seal_part(file, kPartHeaderBytes + i * kPartEntryBytes);
  const auto bytes = std::span<const std::byte>(file);
  const std::uint32_t checksum = crc32c(bytes.subspan(kPartHeaderBytes, parts * kPartEntryBytes),
                                        crc32c(bytes.first(kCheckedPartHeaderBytes)));
  return changed(std::move(file), kCheckedPartHeaderBytes, checksum);
}

FileBytes mutated(FileBytes file, Random& random) {
  if (random.chance(0.2)) change_length(file, random);
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) change_number(file, random);
  return sealed(std::move(file));
}

}  // namespace winnow::challenge
