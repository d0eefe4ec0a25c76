// Feeds bytes to the parser of safetensors headers. What it accepts must come back equal.
#include <cstdint>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/model/safetensors_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto header = winnow::parse_safetensors_header(text, "fuzz");
    const std::string again = winnow::format_safetensors_header(header, "fuzz");
    const auto restored = winnow::parse_safetensors_header(again, "fuzz");
    if (winnow::format_safetensors_header(restored, "fuzz") != again) __builtin_trap();
  } catch (const winnow::Error& error) {
    if (error.code() != winnow::ErrorCode::bad_file) __builtin_trap();
  }
  return 0;
}
