#include "runtime/base/file_kind.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/base/utf8.h"

namespace winnow {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  const char* kind;
};

constexpr Signature kSignatures[] = {
    {0, "\x89WNW\r\n\x1a\n"sv, "a Winnow model file (.wnw)"},
    {0, "PK\x03\x04"sv, "a ZIP archive, as PyTorch's .pt and NumPy's .npz"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras's .h5"},
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG picture"},
    {0, "\xff\xd8\xff"sv, "a JPEG picture"},
    {0, "\x1f\x8b"sv, "a gzip-packed file"},
    {0, "\x93NUMPY"sv, "a NumPy array (.npy)"},
    {0, "GGUF"sv, "a GGUF file"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or library (ELF)"},
    {4, "TFL3"sv, "a TensorFlow Lite model"},
    {0, "\x80\x02"sv, "a Python pickle, as PyTorch's old .pt"},
    {0, "\x80\x03"sv, "a Python pickle"},
    {0, "\x80\x04"sv, "a Python pickle"},
    {0, "\x80\x05"sv, "a Python pickle"},
};

std::uint8_t byte_at(std::string_view text, std::size_t index) {
  return index < text.size() ? static_cast<std::uint8_t>(text[index]) : 0;
}

// A length of 8 bytes, then a header of JSON.
bool is_safetensors(std::string_view text) {
  std::uint64_t length = 0;
  if (text.size() < sizeof(length) + 2) return false;
  std::memcpy(&length, text.data(), sizeof(length));
  return length >= 2 && length <= std::uint64_t{1} << 32 && text[sizeof(length)] == '{';
}

// A message of protocol buffers that begins as ONNX's ModelProto: the version of its format (field
// 1, a small number), then the producer's name, the graph or the operators' versions (fields 2, 7
// and 8).
bool is_onnx(std::string_view text) {
  const std::uint8_t next = byte_at(text, 2);
  return byte_at(text, 0) == 0x08 && byte_at(text, 1) >= 1 && byte_at(text, 1) <= 32 &&
         (next == 0x12 || next == 0x3a || next == 0x42);
}

// UTF-8 without control characters but those of lines. The last character may be cut.
bool is_text(std::string_view text) {
  constexpr std::size_t kLooked = 512, kLongestCharacter = 4;
  std::string_view begin = text.substr(0, kLooked);
  for (std::size_t cut = 1; cut < kLongestCharacter && !is_utf8(begin); ++cut) {
    if (text.size() < kLooked) return false;
    begin = text.substr(0, kLooked - cut);
  }
  return is_utf8(begin) && std::ranges::all_of(begin, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\r' || c == '\t';
         });
}

}  // namespace

std::string file_kind(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return "an empty file";
  for (const Signature& signature : kSignatures) {
    if (text.size() < signature.offset) continue;
    if (text.substr(signature.offset).starts_with(signature.bytes)) return signature.kind;
  }
  if (is_safetensors(text)) return "a safetensors file";
  if (is_onnx(text)) return "an ONNX model";
  return is_text(text) ? "a text file" : "";
}

std::string but_file_kind(std::span<const std::byte> bytes) {
  const std::string kind = file_kind(bytes);
  return kind.empty() ? "" : ", but " + kind;
}

}  // namespace winnow
