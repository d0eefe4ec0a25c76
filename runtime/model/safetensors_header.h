// The JSON header of a safetensors file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runtime/model/tensor.h"

namespace winnow {

// The reference reader's limit: huggingface/safetensors, safetensors/src/tensor.rs.
constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

struct TensorEntry {
  DataType type = DataType::f32;
  Shape shape;
  std::uint64_t begin = 0;  // bytes after the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, TensorEntry> tensors;
  std::map<std::string, std::string> metadata;
};

// Checks the grammar, but not where the spans lie. Keeps no copy of the text, so that memory
// follows what the header describes. Throws Error{bad_file}; `place` begins the message.
SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& place);

// Throws Error{usage} for names that are not UTF-8.
std::string format_safetensors_header(const SafetensorsHeader& header, const std::string& place);

}  // namespace winnow
