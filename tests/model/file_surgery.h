// Changes to a model file that leave its checksums right, so that a reader meets the change itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/model/section_file.h"

namespace winnow {

class FileSurgery {
 public:
  explicit FileSurgery(std::vector<std::byte> file) : bytes_(std::move(file)) {}

  const std::vector<std::byte>& bytes() const { return bytes_; }

  template <typename T>
  FileSurgery& put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
    return *this;
  }

  // A field of table entry or weight record number `index`; offsets as in docs/model-file.md.
  template <typename T>
  FileSurgery& put_entry(std::size_t index, std::size_t offset, T value) {
    return put(kHeaderBytes + index * kTableEntryBytes + offset, value);
  }
  template <typename T>
  FileSurgery& put_record(std::size_t index, std::size_t offset, T value) {
    return put(section_offset(2) + index * kWeightRecordBytes + offset, value);
  }

  // One byte of a section.
  FileSurgery& put_byte(std::size_t section, std::size_t offset, unsigned value) {
    return put(section_offset(section) + offset, static_cast<std::uint8_t>(value));
  }

  // Replaces the content of a section; what follows moves.
  FileSurgery& replace(std::size_t section, std::vector<std::byte> content);
  FileSurgery& replace(std::size_t section, std::string_view text);

  // Takes the file apart, lets `change` work on the sections, and puts it together again.
  FileSurgery& rebuild(const std::function<void(std::vector<SectionContent>&)>& change);

  FileSurgery& grow(std::size_t bytes);  // appends bytes and tells the header

  FileSurgery& announce();  // makes the header announce the memory that the records need
  FileSurgery& seal();      // makes all checksums right

 private:
  std::size_t section_offset(std::size_t section) const;

  std::vector<std::byte> bytes_;
};

}  // namespace winnow
