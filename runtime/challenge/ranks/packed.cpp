#include "runtime/challenge/ranks/packed.h"

#include <cstdint>

namespace winnow::challenge {

std::string packed_texts(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    bytes += packed(std::uint64_t{text.size()});
    bytes += text;
  }
  return bytes;
}

std::vector<std::string> unpacked_texts(std::string_view bytes) {
  std::vector<std::string> texts;
  while (!bytes.empty()) {
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length) fail(ErrorCode::internal, "message cut short");
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (length > bytes.size()) fail(ErrorCode::internal, "message cut short");
    texts.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return texts;
}

}  // namespace winnow::challenge
