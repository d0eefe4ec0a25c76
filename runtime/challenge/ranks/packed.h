// Values and lists of texts as bytes, for messages between ranks of one program.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"

namespace winnow::challenge {

// The bytes of a number or a struct of numbers.
template <typename Value>
std::string packed(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The values of a list, one behind the other.
template <typename Value>
std::string packed(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

// What packed() made bytes of. Throws Error{internal} if they are not of whole values.
template <typename Value>
std::vector<Value> unpacked(std::string_view bytes) {
  if (bytes.size() % sizeof(Value) != 0) {
    fail(ErrorCode::internal, "message of ", bytes.size(), " bytes between ranks");
  }
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Texts with their lengths, and back. unpacked_texts() throws Error{internal} if the bytes are no
// such list.
std::string packed_texts(const std::vector<std::string>& texts);
std::vector<std::string> unpacked_texts(std::string_view bytes);

}  // namespace winnow::challenge
