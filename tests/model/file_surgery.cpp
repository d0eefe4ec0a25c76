#include "tests/model/file_surgery.h"

#include <algorithm>

#include "runtime/base/checksum.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/weight_sections.h"

namespace winnow {
namespace {

SectionEntry entry_at(const std::vector<std::byte>& file, std::size_t index) {
  return load<SectionEntry>(file.data() + kHeaderBytes + index * kTableEntryBytes);
}

}  // namespace

FileSurgery& FileSurgery::replace(std::size_t section, std::vector<std::byte> content) {
  return rebuild([&](auto& sections) { sections[section].own = std::move(content); });
}

FileSurgery& FileSurgery::replace(std::size_t section, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return replace(section, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

FileSurgery& FileSurgery::rebuild(const std::function<void(std::vector<SectionContent>&)>& change) {
  const auto header = load<FileHeader>(bytes_.data());
  std::vector<SectionContent> sections;
  for (std::size_t i = 0; i < header.section_count; ++i) {
    const SectionEntry entry = entry_at(bytes_, i);
    SectionContent section{static_cast<SectionKind>(entry.kind), entry.owner, {}, {}};
    append_bytes(section.own, std::span(bytes_).subspan(entry.offset, entry.bytes));
    sections.push_back(std::move(section));
  }
  change(sections);
  std::vector<std::byte> file;
  write_sections(sections, {header.weight_count, header.decoded_bytes, header.needed_features},
                 [&](auto bytes) { append_bytes(file, bytes); });
  bytes_ = std::move(file);
  return *this;
}

FileSurgery& FileSurgery::grow(std::size_t bytes) {
  bytes_.resize(bytes_.size() + bytes);
  return put(offsetof(FileHeader, file_bytes), std::uint64_t{bytes_.size()});
}

FileSurgery& FileSurgery::announce() {
  const auto header = load<FileHeader>(bytes_.data());
  std::uint64_t needed = 0;
  std::size_t at = header.section_count > 2 ? section_offset(2) : bytes_.size();
  for (std::size_t i = 0; i < header.weight_count; ++i, at += kWeightRecordBytes) {
    if (at + kWeightRecordBytes > bytes_.size()) break;  // not the records, after other changes
    const auto record = load<WeightRecord>(bytes_.data() + at);
    if (find_defect(record).empty()) needed = saturating_sum({needed, decoded_bytes(record)});
  }
  if ((header.needed_features & kVocabularyFeature) && header.section_count > 3) {
    const SectionEntry entry = entry_at(bytes_, 3);
    const std::uint64_t words = load<std::uint32_t>(bytes_.data() + entry.offset + 4);
    needed = saturating_sum({needed, entry.bytes, 64 * words});
  }
  return put(offsetof(FileHeader, decoded_bytes), needed);
}

FileSurgery& FileSurgery::seal() {
  const auto header = load<FileHeader>(bytes_.data());
  const std::size_t room = (bytes_.size() - kHeaderBytes) / kTableEntryBytes;
  const std::size_t count = std::min<std::size_t>(header.section_count, room);
  for (std::size_t i = 0; i < count; ++i) {
    const SectionEntry entry = entry_at(bytes_, i);
    const bool lies_inside =
        entry.offset <= bytes_.size() && entry.bytes <= bytes_.size() - entry.offset;
    if (!lies_inside) continue;
    const auto section = std::span(bytes_).subspan(entry.offset, entry.bytes);
    put_entry(i, offsetof(SectionEntry, checksum), crc32c(section));
  }
  const auto head = std::span<const std::byte>(bytes_).first(offsetof(FileHeader, checksum));
  const auto table =
      std::span<const std::byte>(bytes_).subspan(kHeaderBytes, count * kTableEntryBytes);
  return put(offsetof(FileHeader, checksum), crc32c(table, crc32c(head)));
}

std::size_t FileSurgery::section_offset(std::size_t section) const {
  return entry_at(bytes_, section).offset;
}

}  // namespace winnow
