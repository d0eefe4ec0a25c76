#include "runtime/base/checksum.h"
#include "runtime/challenge/files/binary/part_file.h"
#include "runtime/challenge/files/binary/part_file_layout.h"

namespace winnow::challenge {

PartFileWriter::PartFileWriter(const std::string& path, PartFileKind kind,
                               const PartFileSummary& summary)
    : file_(path), kind_(kind), summary_(summary) {
  // Header and table are known last; their place is kept.
  write(std::vector<std::byte>(kPartHeaderBytes + std::size_t{summary.parts} * kPartEntryBytes));
}

PartFileWriter::~PartFileWriter() = default;

std::uint32_t PartFileWriter::appended() const {
  return static_cast<std::uint32_t>(table_.size());
}

void PartFileWriter::append(const PartFacts& facts, std::span<const Bytes> arrays) {
  pad();
  PartTableEntry entry{.offset = end_, .form = facts.form, .words = facts.words};
  checksum_ = 0;
  for (const Bytes array : arrays) {
    if (array.empty()) continue;
    pad();
    write(array);
  }
  entry.bytes = end_ - entry.offset;
  entry.checksum = checksum_;
  table_.push_back(entry);
}

void PartFileWriter::commit(std::uint64_t total) {
  PartFileHeader header{.magic = magic_of(kind_),
                        .neurons = summary_.neurons,
                        .count = summary_.count,
                        .parts = summary_.parts,
                        .file_bytes = end_,
                        .total = total};
  const Bytes table = std::as_bytes(std::span(table_));
  const Bytes head = std::as_bytes(std::span(&header, 1));
  header.checksum = crc32c(table, crc32c(head.first(kCheckedPartHeaderBytes)));
  file_.write_at(0, head);
  file_.write_at(kPartHeaderBytes, table);
  file_.commit();
}

void PartFileWriter::pad() {
  constexpr std::array<std::byte, kPartAlignment> kZeros{};
  write(std::span(kZeros).first(aligned(end_) - end_));
}

void PartFileWriter::write(Bytes bytes) {
  checksum_ = crc32c(bytes, checksum_);
  file_.write(bytes);
  end_ += bytes.size();
}

}  // namespace winnow::challenge
