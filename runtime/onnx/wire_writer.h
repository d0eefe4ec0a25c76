// The wire format of protocol buffers, written: a message, field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/onnx/wire_type.h"

namespace winnow {

// Programs that read protocol buffers refuse messages of more bytes.
inline constexpr std::uint64_t kLargestMessage = (std::uint64_t{1} << 31) - 1;

// One message. Fields lie in the order in which they were added; adding one twice repeats it.
class WireWriter {
 public:
  void integer(std::uint32_t number, std::int64_t value);
  void real(std::uint32_t number, float value);
  void text(std::uint32_t number, std::string_view value);
  void integers(std::uint32_t number, std::span<const std::int64_t> values);  // packed
  // Large data stays where it is: `bytes` must outlive the message and all messages around it.
  void borrow(std::uint32_t number, std::span<const std::byte> bytes);
  void message(std::uint32_t number, const WireWriter& inner);

  std::uint64_t size() const { return size_; }  // bytes

  // Writes the message as a file, atomically (runtime/base/file.h). Throws Error{usage} before that
  // if it is larger than kLargestMessage.
  void save(const std::string& path) const;

 private:
  // Bytes of our own, or else those of somebody else.
  struct Piece {
    std::string own;
    std::span<const std::byte> borrowed;
  };

  void append(std::string_view bytes);
  void append_tag(std::uint32_t number, WireType type);
  void append_varint(std::uint64_t value);

  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

}  // namespace winnow
