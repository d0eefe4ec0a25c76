// The wire format of protocol buffers, read from memory: fields of a message, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/onnx/wire_type.h"

namespace winnow {

// One message. Every length is compared with the bytes that are left before it is believed.
// All functions throw Error{bad_file} "FILE: byte N: MESSAGE: ...".
class WireReader {
 public:
  // `message` is what the bytes are called in messages; `offset` is where they lie in the file.
  WireReader(std::span<const std::byte> bytes, std::string file, std::string message,
             std::size_t offset = 0);

  // Goes on to the next field. False at the end of the message.
  bool next();
  std::uint32_t number() const { return number_; }

  // The field's value. Refused if the field has another type on the wire.
  std::int64_t integer() const;
  float real() const;
  std::span<const std::byte> bytes() const;
  std::string text() const;  // UTF-8 without control characters
  WireReader message(std::string name) const;

  // Repeated numbers, packed or single: appends them to `values`.
  void append_integers(std::vector<std::int64_t>& values) const;
  void append_floats(std::vector<float>& values) const;
  void append_doubles(std::vector<double>& values) const;

  const std::string& file() const { return file_; }

 private:
  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const;
  std::uint64_t read_varint();
  std::span<const std::byte> take(std::uint64_t count);
  void require(WireType wanted) const;
  template <typename T>
  void append_fixed(std::vector<T>& values, WireType single) const;

  std::span<const std::byte> all_;
  std::string file_;
  std::string message_;
  std::size_t offset_;
  std::size_t position_ = 0;
  std::size_t begin_ = 0;  // of the current field
  std::uint32_t number_ = 0;
  WireType type_ = WireType::varint;
  std::uint64_t varint_ = 0;
  std::span<const std::byte> bytes_;
};

}  // namespace winnow
