#include "runtime/model/section_file.h"

#include <algorithm>

#include "runtime/base/checksum.h"
#include "runtime/base/error.h"
#include "runtime/base/file_kind.h"
#include "runtime/model/little_endian.h"

namespace winnow {
namespace {

constexpr std::size_t kCheckedHeaderBytes = offsetof(FileHeader, checksum);

template <typename Whole>
std::uint32_t head_checksum(const Whole& header_and_table) {
  const auto bytes = std::span<const std::byte>(header_and_table);
  return crc32c(bytes.subspan(kHeaderBytes), crc32c(bytes.first(kCheckedHeaderBytes)));
}

std::vector<SectionEntry> lay_out(const std::vector<SectionContent>& sections) {
  std::vector<SectionEntry> table;
  std::uint64_t end = kHeaderBytes + sections.size() * kTableEntryBytes;
  for (const SectionContent& section : sections) {
    SectionEntry entry;
    entry.kind = static_cast<std::uint32_t>(section.kind);
    entry.owner = section.owner;
    entry.offset = aligned(end);
    entry.bytes = section.bytes().size();
    entry.checksum = crc32c(section.bytes());
    end = entry.offset + entry.bytes;
    table.push_back(entry);
  }
  return table;
}

std::vector<std::byte> head(const std::vector<SectionEntry>& table, const SectionSummary& summary) {
  FileHeader header;
  header.section_count = static_cast<std::uint32_t>(table.size());
  header.file_bytes = table.back().offset + table.back().bytes;
  header.weight_count = summary.weight_count;
  header.decoded_bytes = summary.decoded_bytes;
  header.needed_features = summary.needed_features;
  header.minor = minor_version_of(summary.needed_features);
  std::vector<std::byte> bytes;
  append(bytes, header);
  for (const SectionEntry& entry : table) append(bytes, entry);
  header.checksum = head_checksum(bytes);
  std::memcpy(bytes.data() + kCheckedHeaderBytes, &header.checksum, sizeof(header.checksum));
  return bytes;
}

void require_magic(std::span<const std::byte> file, const std::string& name) {
  const auto expected = std::as_bytes(std::span(kModelFileMagic));
  const auto found = file.first(std::min(file.size(), expected.size()));
  if (std::ranges::equal(found, expected)) return;
  const bool begins_alike =
      found.size() >= 4 && std::ranges::equal(found.first(4), expected.first(4));
  fail(ErrorCode::bad_file, name, ": byte 0: ",
       begins_alike ? "the file was changed by a transfer as text"
                    : "no Winnow model file" + but_file_kind(file));
}

// What can be said before the checksum, so that a user learns the likeliest reason.
void require_readable_version(const FileHeader& header, const std::string& name) {
  if (header.endian_tag != kEndianTag) {
    fail(ErrorCode::bad_file, name, ": byte 12: byte order tag is wrong");
  }
  if (header.major != kFormatMajor) {
    fail(ErrorCode::bad_file, name, ": byte 8: format version ", header.major, ".", header.minor,
         ", this program reads ", kFormatMajor, ".x");
  }
}

// The length of header and table, once they are known to lie within the file.
std::size_t require_head(const FileHeader& header, std::size_t size, const std::string& name) {
  if (header.file_bytes != size) {
    fail(ErrorCode::bad_file, name, ": byte 32: the file should be ", header.file_bytes,
         " bytes long, it has ", size);
  }
  if (header.table_offset != kHeaderBytes) {
    fail(ErrorCode::bad_file, name, ": byte 24: section table at ", header.table_offset,
         ", expected ", kHeaderBytes);
  }
  const std::size_t room = (size - kHeaderBytes) / kTableEntryBytes;
  if (header.section_count == 0 || header.section_count > room) {
    fail(ErrorCode::bad_file, name, ": byte 16: ", header.section_count,
         " sections, the file has room for ", room, " table entries");
  }
  return kHeaderBytes + header.section_count * kTableEntryBytes;
}

FileHeader checked_header(std::span<const std::byte> file, const std::string& name) {
  require_magic(file, name);
  if (file.size() < kHeaderBytes) {
    fail(ErrorCode::bad_file, name, ": ", file.size(), " bytes are too few for a model file");
  }
  const auto header = load<FileHeader>(file.data());
  require_readable_version(header, name);
  const std::size_t head_bytes = require_head(header, file.size(), name);
  if (header.checksum != head_checksum(file.first(head_bytes))) {
    fail(ErrorCode::bad_file, name, ": header: checksum does not match");
  }
  if ((header.needed_features & ~kKnownFeatures) != 0) {
    fail(ErrorCode::bad_file, name, ": byte 40: the file needs features 0x", std::hex,
         header.needed_features, " that this program does not know");
  }
  if (header.minor < minor_version_of(header.needed_features)) {
    fail(ErrorCode::bad_file, name, ": byte 40: the file needs features 0x", std::hex,
         header.needed_features, " that format 1.", std::dec, header.minor, " does not have");
  }
  if (header.reserved != 0) {
    fail(ErrorCode::bad_file, name, ": header: reserved bytes are not 0");
  }
  return header;
}

void require_place(const SectionEntry& entry, std::uint64_t end, std::uint64_t size,
                   const std::string& place) {
  if (entry.reserved != 0) fail(ErrorCode::bad_file, place, ": reserved bytes are not 0");
  if (entry.offset != aligned(end)) {
    fail(ErrorCode::bad_file, place, ": begins at ", entry.offset, ", expected ", aligned(end));
  }
  if (entry.offset > size || entry.bytes > size - entry.offset) {
    fail(ErrorCode::bad_file, place, ": ", entry.bytes, " bytes at ", entry.offset,
         " reach beyond the file's ", size);
  }
}

void require_zeros(std::span<const std::byte> padding, const std::string& place) {
  const bool is_zero =
      std::all_of(padding.begin(), padding.end(), [](std::byte b) { return b == std::byte{0}; });
  if (!is_zero) fail(ErrorCode::bad_file, place, ": the bytes before it are not 0");
}

}  // namespace

void write_sections(const std::vector<SectionContent>& sections, const SectionSummary& summary,
                    const std::function<void(std::span<const std::byte>)>& write) {
  const std::vector<SectionEntry> table = lay_out(sections);
  const std::vector<std::byte> first = head(table, summary);
  write(first);
  const std::vector<std::byte> zeros(kSectionAlignment);
  std::uint64_t end = first.size();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    write(std::span(zeros).first(table[i].offset - end));
    write(sections[i].bytes());
    end = table[i].offset + table[i].bytes;
  }
}

SectionFile read_sections(std::span<const std::byte> file, const std::string& name) {
  const FileHeader header = checked_header(file, name);
  SectionFile result;
  result.summary = {header.weight_count, header.decoded_bytes, header.needed_features};
  std::uint64_t end = kHeaderBytes + header.section_count * kTableEntryBytes;
  for (std::uint32_t i = 0; i < header.section_count; ++i) {
    const std::string place = name + ": section " + std::to_string(i);
    const auto entry = load<SectionEntry>(file.data() + kHeaderBytes + i * kTableEntryBytes);
    require_place(entry, end, file.size(), place);
    require_zeros(file.subspan(end, entry.offset - end), place);
    const auto bytes = file.subspan(entry.offset, entry.bytes);
    if (crc32c(bytes) != entry.checksum) {
      fail(ErrorCode::bad_file, place, ": checksum does not match");
    }
    result.sections.push_back({entry.kind, entry.owner, bytes});
    end = entry.offset + entry.bytes;
  }
  if (end != file.size()) {
    fail(ErrorCode::bad_file, name, ": ", file.size() - end, " bytes follow the last section");
  }
  return result;
}

}  // namespace winnow
