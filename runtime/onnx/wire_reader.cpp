#include "runtime/onnx/wire_reader.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"

namespace winnow {
namespace {

constexpr int kLongestVarint = 10;  // bytes, of seven bits each

template <typename T>
T value_of(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace

template <typename... Parts>
void WireReader::refuse(const Parts&... parts) const {
  fail(ErrorCode::bad_file, file_, ": byte ", offset_ + begin_, ": ", message_, ": ", parts...);
}

WireReader::WireReader(std::span<const std::byte> bytes, std::string file, std::string message,
                       std::size_t offset)
    : all_(bytes), file_(std::move(file)), message_(std::move(message)), offset_(offset) {}

std::uint64_t WireReader::read_varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < kLongestVarint; ++i) {
    if (position_ == all_.size()) refuse("ends within a number");
    const auto byte = std::to_integer<std::uint64_t>(all_[position_++]);
    const bool is_last_possible = i == kLongestVarint - 1;
    if (is_last_possible && byte > 1) break;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  refuse("a number has more than 64 bits");
}

std::span<const std::byte> WireReader::take(std::uint64_t count) {
  const std::size_t left = all_.size() - position_;
  if (count > left) {
    refuse("field ", number_, " is ", count, " bytes long, ", left, " are left");
  }
  const auto taken = all_.subspan(position_, count);
  position_ += count;
  return taken;
}

bool WireReader::next() {
  begin_ = position_;
  if (position_ == all_.size()) return false;
  const std::uint64_t tag = read_varint();
  constexpr std::uint64_t kHighestNumber = (1 << 29) - 1;
  if (tag >> 3 == 0 || tag >> 3 > kHighestNumber) {
    refuse("found field number ", tag >> 3, ", expected one from 1 to ", kHighestNumber);
  }
  number_ = static_cast<std::uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  switch (type_) {
    case WireType::varint:
      varint_ = read_varint();
      return true;
    case WireType::fixed64:
      bytes_ = take(8);
      return true;
    case WireType::bytes:
      bytes_ = take(read_varint());
      return true;
    case WireType::fixed32:
      bytes_ = take(4);
      return true;
    default:
      refuse("field ", number_, " has the wire type ", tag & 7, ", expected 0, 1, 2 or 5");
  }
}

void WireReader::require(WireType wanted) const {
  if (type_ == wanted) return;
  refuse("field ", number_, " has the wire type ", static_cast<int>(type_), ", expected ",
         static_cast<int>(wanted));
}

std::int64_t WireReader::integer() const {
  require(WireType::varint);
  return static_cast<std::int64_t>(varint_);
}

float WireReader::real() const {
  require(WireType::fixed32);
  return value_of<float>(bytes_);
}

std::span<const std::byte> WireReader::bytes() const {
  require(WireType::bytes);
  return bytes_;
}

std::string WireReader::text() const {
  const auto found = bytes();
  std::string text(reinterpret_cast<const char*>(found.data()), found.size());
  if (!is_utf8(text) || has_control_characters(text)) {
    refuse("field ", number_, " is ", in_quotes(text),
           ", expected UTF-8 text without control characters");
  }
  return text;
}

WireReader WireReader::message(std::string name) const {
  const auto inner = bytes();
  return {inner, file_, std::move(name),
          offset_ + static_cast<std::size_t>(inner.data() - all_.data())};
}

void WireReader::append_integers(std::vector<std::int64_t>& values) const {
  if (type_ == WireType::varint) {
    values.push_back(integer());
    return;
  }
  WireReader packed = message(message_);
  while (packed.position_ < packed.all_.size()) {
    packed.begin_ = packed.position_;
    values.push_back(static_cast<std::int64_t>(packed.read_varint()));
  }
}

template <typename T>
void WireReader::append_fixed(std::vector<T>& values, WireType single) const {
  if (type_ != single) require(WireType::bytes);
  if (bytes_.size() % sizeof(T) != 0) {
    refuse("field ", number_, " is ", bytes_.size(), " bytes long, expected a multiple of ",
           sizeof(T));
  }
  for (std::size_t i = 0; i < bytes_.size(); i += sizeof(T)) {
    values.push_back(value_of<T>(bytes_.subspan(i, sizeof(T))));
  }
}

void WireReader::append_floats(std::vector<float>& values) const {
  append_fixed(values, WireType::fixed32);
}

void WireReader::append_doubles(std::vector<double>& values) const {
  append_fixed(values, WireType::fixed64);
}

}  // namespace winnow
