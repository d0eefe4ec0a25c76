// The frame of our binary files: a header, a table of parts, and the parts, each a few arrays at
// multiples of 64 bytes. Knows nothing of what parts hold. docs/challenge-files.md describes it
// byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/file.h"

namespace winnow::challenge {

enum class PartFileKind { network, images };  // their parts are layers, blocks of images

// What the header says of the content as a whole.
struct PartFileSummary {
  std::uint32_t neurons = 0;
  std::uint32_t count = 0;  // of layers, of images
  std::uint32_t parts = 0;
  std::uint64_t total = 0;  // of connections, of ones
};

// What the table says of a part beside its place.
struct PartFacts {
  std::uint32_t form = 0;
  std::array<std::uint32_t, 6> words{};
};

struct PartTableEntry;  // part_file_layout.h

using Bytes = std::span<const std::byte>;

// Writes a file part by part; it appears as a whole with commit(). Throws Error{bad_file}.
class PartFileWriter {
 public:
  // `summary.total` is not looked at.
  PartFileWriter(const std::string& path, PartFileKind kind, const PartFileSummary& summary);
  ~PartFileWriter();

  std::uint32_t appended() const;

  // Requires appended() < summary.parts.
  void append(const PartFacts& facts, std::span<const Bytes> arrays);

  // Requires appended() == summary.parts.
  void commit(std::uint64_t total);

 private:
  void pad();
  void write(Bytes bytes);

  AtomicFile file_;
  PartFileKind kind_;
  PartFileSummary summary_;
  std::vector<PartTableEntry> table_;
  std::uint64_t end_ = 0;  // of what was written
  std::uint32_t checksum_ = 0;
};

// A file whose header and table are sound: every part lies in the file, in order and without gaps.
class PartFile {
 public:
  // `bytes` must outlive the object, unless they are those of `owner`. `name` begins messages.
  // Throws Error{bad_file}.
  PartFile(Bytes bytes, std::string name, PartFileKind kind, std::optional<MappedFile> owner = {});

  const std::string& name() const { return name_; }
  const PartFileSummary& summary() const { return summary_; }
  const PartFacts& facts(std::uint32_t part) const { return parts_[part].facts; }
  std::string place(std::uint32_t part) const;  // "FILE: layer 7"

  // The bytes from the first array of a part to the end of its last.
  Bytes bytes(std::uint32_t part) const;

  // Throws Error{bad_file} if the checksum of a part does not match or the bytes between it and the
  // one before are not 0.
  void check(std::uint32_t part) const;

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t padding_begin = 0;
    std::uint32_t checksum = 0;
    PartFacts facts;
  };

  void read_table(Bytes table);

  std::optional<MappedFile> owner_;
  Bytes file_;
  std::string name_;
  PartFileKind kind_;
  PartFileSummary summary_;
  std::vector<Part> parts_;
};

// How long a part with arrays of these lengths is. Empty arrays take no place.
std::uint64_t part_bytes(std::span<const std::uint64_t> array_bytes);

// Takes the arrays off the front of a part. Throws Error{bad_file} naming `place`.
class ArrayReader {
 public:
  ArrayReader(Bytes part, std::string place) : part_(part), place_(std::move(place)) {}

  Bytes take(std::uint64_t bytes);

 private:
  Bytes part_;
  std::string place_;
  std::uint64_t end_ = 0;  // of the array before
};

}  // namespace winnow::challenge
