// The frame of a model file: header, section table, sections. Knows nothing of what sections hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/model_file_layout.h"

namespace winnow {

// A section to be written. Its bytes are its own or, to spare a copy, someone else's.
struct SectionContent {
  SectionKind kind = SectionKind::graph;
  std::uint32_t owner = kNoOwner;
  std::vector<std::byte> own;
  std::span<const std::byte> borrowed;

  std::span<const std::byte> bytes() const { return own.empty() ? borrowed : own; }
};

// What the header says of the content as a whole.
struct SectionSummary {
  std::uint32_t weight_count = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint32_t needed_features = 0;
};

// Gives the whole file to `write`, piece by piece.
void write_sections(const std::vector<SectionContent>& sections, const SectionSummary& summary,
                    const std::function<void(std::span<const std::byte>)>& write);

struct PlacedSection {
  std::uint32_t kind = 0;
  std::uint32_t owner = kNoOwner;
  std::span<const std::byte> bytes;
};

struct SectionFile {
  SectionSummary summary;
  std::vector<PlacedSection> sections;
};

// Checks header, table, places, padding and checksums, so that every byte of the file is accounted
// for. Throws Error{bad_file}; `name` begins the message.
SectionFile read_sections(std::span<const std::byte> file, const std::string& name);

}  // namespace winnow
