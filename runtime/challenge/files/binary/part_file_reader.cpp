#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/error.h"
#include "runtime/challenge/files/binary/part_file.h"
#include "runtime/challenge/files/binary/part_file_layout.h"

namespace winnow::challenge {
namespace {

const char* file_noun(PartFileKind kind) {
  return kind == PartFileKind::network ? "Winnow network file" : "Winnow images file";
}

void require_magic(const PartFileHeader& header, PartFileKind kind, const std::string& name) {
  const auto magic = magic_of(kind);
  if (header.magic == magic) return;
  const bool begins_alike = std::equal(magic.begin(), magic.begin() + 4, header.magic.begin());
  fail(ErrorCode::bad_file, name, ": byte 0: ",
       begins_alike ? "the file was changed by a transfer as text" : "found other bytes",
       ", expected a ", file_noun(kind));
}

// What can be said before the checksum, so that a user learns the likeliest reason.
void require_readable(const PartFileHeader& header, std::size_t size, const std::string& name) {
  if (header.endian_tag != kPartFileEndianTag) {
    fail(ErrorCode::bad_file, name, ": byte 12: the byte order tag is wrong");
  }
  if (header.major != kPartFileMajor) {
    fail(ErrorCode::bad_file, name, ": byte 8: found format version ", header.major, ".",
         header.minor, ", expected ", kPartFileMajor, ".x");
  }
  if (header.file_bytes != size) {
    fail(ErrorCode::bad_file, name, ": found ", size, " bytes, expected ", header.file_bytes,
         " (byte 32)");
  }
  const std::size_t room = (size - kPartHeaderBytes) / kPartEntryBytes;
  if (header.parts == 0 || header.parts > room) {
    fail(ErrorCode::bad_file, name, ": byte 28: found ", header.parts, " parts, expected 1 to the ",
         room, " whose table entries the file has room for");
  }
}

void require_sound(const PartFileHeader& header, Bytes head, const std::string& name) {
  const std::uint32_t checksum =
      crc32c(head.subspan(kPartHeaderBytes), crc32c(head.first(kCheckedPartHeaderBytes)));
  if (checksum != header.checksum) {
    fail(ErrorCode::bad_file, name, ": header: the checksum does not match");
  }
  if (header.needed_features != 0) {
    fail(ErrorCode::bad_file, name, ": byte 16: the file needs features 0x", std::hex,
         header.needed_features, " that this program does not know");
  }
  if (header.reserved != 0 || header.reserved_too != 0) {
    fail(ErrorCode::bad_file, name, ": header: reserved bytes are not 0");
  }
}

bool is_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

PartFile::PartFile(Bytes bytes, std::string name, PartFileKind kind,
                   std::optional<MappedFile> owner)
    : owner_(std::move(owner)), file_(bytes), name_(std::move(name)), kind_(kind) {
  if (file_.size() < kPartHeaderBytes) {
    fail(ErrorCode::bad_file, name_, ": found ", file_.size(), " bytes, too few for a ",
         file_noun(kind));
  }
  PartFileHeader header;
  std::memcpy(&header, file_.data(), kPartHeaderBytes);
  require_magic(header, kind, name_);
  require_readable(header, file_.size(), name_);
  const std::size_t head_bytes = kPartHeaderBytes + header.parts * kPartEntryBytes;
  require_sound(header, file_.first(head_bytes), name_);
  summary_ = {header.neurons, header.count, header.parts, header.total};
  read_table(file_.subspan(kPartHeaderBytes, head_bytes - kPartHeaderBytes));
}

void PartFile::read_table(Bytes table) {
  std::uint64_t end = kPartHeaderBytes + table.size();
  parts_.reserve(summary_.parts);
  for (std::uint32_t i = 0; i < summary_.parts; ++i) {
    PartTableEntry entry;
    std::memcpy(&entry, table.data() + i * kPartEntryBytes, kPartEntryBytes);
    if (entry.offset != aligned(end) || entry.offset > file_.size() ||
        entry.bytes > file_.size() - entry.offset) {
      fail(ErrorCode::bad_file, place(i), ": found ", entry.bytes, " bytes at ", entry.offset,
           ", expected them at ", aligned(end), " and within the file's ", file_.size());
    }
    parts_.push_back({entry.offset, entry.offset + entry.bytes, end, entry.checksum,
                      PartFacts{entry.form, entry.words}});
    end = entry.offset + entry.bytes;
  }
  if (end != file_.size()) {
    fail(ErrorCode::bad_file, name_, ": ", file_.size() - end, " bytes follow the last part");
  }
}

std::string PartFile::place(std::uint32_t part) const {
  return name_ + (kind_ == PartFileKind::network ? ": layer " : ": block ") + std::to_string(part);
}

Bytes PartFile::bytes(std::uint32_t part) const {
  return file_.subspan(parts_[part].begin, parts_[part].end - parts_[part].begin);
}

void PartFile::check(std::uint32_t part) const {
  const Part& p = parts_[part];
  if (!is_zero(file_.subspan(p.padding_begin, p.begin - p.padding_begin))) {
    fail(ErrorCode::bad_file, place(part), ": the bytes before it are not 0");
  }
  if (crc32c(bytes(part)) != p.checksum) {
    fail(ErrorCode::bad_file, place(part), ": the checksum does not match");
  }
}

std::uint64_t part_bytes(std::span<const std::uint64_t> array_bytes) {
  std::uint64_t end = 0;
  for (const std::uint64_t bytes : array_bytes) {
    if (bytes > 0) end = aligned(end) + bytes;
  }
  return end;
}

Bytes ArrayReader::take(std::uint64_t bytes) {
  if (bytes == 0) return {};
  const std::uint64_t begin = aligned(end_);
  if (begin > part_.size() || bytes > part_.size() - begin) {
    fail(ErrorCode::bad_file, place_, ": found ", part_.size(), " bytes, expected at least ",
         begin + bytes);
  }
  if (!is_zero(part_.subspan(end_, begin - end_))) {
    fail(ErrorCode::bad_file, place_, ": bytes between its arrays are not 0");
  }
  end_ = begin + bytes;
  return part_.subspan(begin, bytes);
}

}  // namespace winnow::challenge
