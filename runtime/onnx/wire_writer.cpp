#include "runtime/onnx/wire_writer.h"

#include <cstring>

#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace winnow {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

}  // namespace

void WireWriter::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || !pieces_.back().borrowed.empty()) pieces_.emplace_back();
  pieces_.back().own += bytes;
  size_ += bytes.size();
}

void WireWriter::append_varint(std::uint64_t value) {
  append(varint(value));
}

void WireWriter::append_tag(std::uint32_t number, WireType type) {
  append_varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

void WireWriter::integer(std::uint32_t number, std::int64_t value) {
  append_tag(number, WireType::varint);
  append_varint(static_cast<std::uint64_t>(value));
}

void WireWriter::real(std::uint32_t number, float value) {
  std::string bits(sizeof value, '\0');
  std::memcpy(bits.data(), &value, sizeof value);
  append_tag(number, WireType::fixed32);
  append(bits);
}

void WireWriter::text(std::uint32_t number, std::string_view value) {
  append_tag(number, WireType::bytes);
  append_varint(value.size());
  append(value);
}

void WireWriter::integers(std::uint32_t number, std::span<const std::int64_t> values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  text(number, packed);
}

void WireWriter::borrow(std::uint32_t number, std::span<const std::byte> bytes) {
  append_tag(number, WireType::bytes);
  append_varint(bytes.size());
  if (bytes.empty()) return;
  pieces_.push_back({"", bytes});
  size_ += bytes.size();
}

void WireWriter::message(std::uint32_t number, const WireWriter& inner) {
  append_tag(number, WireType::bytes);
  append_varint(inner.size_);
  for (const Piece& piece : inner.pieces_) {
    append(piece.own);
    if (piece.borrowed.empty()) continue;
    pieces_.push_back({"", piece.borrowed});
    size_ += piece.borrowed.size();
  }
}

void WireWriter::save(const std::string& path) const {
  if (size_ > kLargestMessage) {
    fail(ErrorCode::usage, path, ": would have ", size_, " bytes, expected at most ",
         kLargestMessage, ", the most that a file of protocol buffers can have");
  }
  AtomicFile file(path);
  for (const Piece& piece : pieces_) {
    file.write(std::as_bytes(std::span(piece.own)));
    file.write(piece.borrowed);
  }
  file.commit();
}

}  // namespace winnow
