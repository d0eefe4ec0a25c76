// Weights' values in one of the encodings of a model file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/half.h"

namespace winnow {

// The numbers are those of the file format and never change.
enum class Encoding : std::uint8_t {
  f32 = 1,
  f16 = 2,
  fixed16 = 3,    // value = scale * int16, scale a power of two (paper 003, eqs 5-6)
  fixed8 = 4,     // value = scale * int8
  codebook8 = 5,  // value = codebook[uint8], times the channel's scale if there are such
  codebook4 = 6,  // the same with nibbles; the even index lies in the low one
};

std::string_view to_string(Encoding encoding);  // "f32", "codebook4", ...

struct Values {
  Encoding encoding = Encoding::f32;
  std::int64_t count = 0;
  std::vector<std::byte> data;  // stored_bytes(encoding, count) bytes, little-endian
  float scale = 1.0f;           // fixed16 and fixed8 only
  std::vector<Half> codebook;   // codebook8: up to 256, codebook4: up to 16 entries

  // Codebooks only: a factor per output channel, or empty. Values then lie in rows of `lanes`
  // neighbouring channels that alternate: [ceil(channels / lanes), values per channel, lanes].
  std::vector<Half> channel_scale;
  int lanes = 1;  // 1, 8, 16 or 32; 1 without channel scales

  friend bool operator==(const Values&, const Values&) = default;
};

// Bytes that `count` values take, without scales and codebook.
std::int64_t stored_bytes(Encoding encoding, std::int64_t count);

Values encode_f32(std::span<const float> values);
Values encode_f16(std::span<const float> values);

// `codes` as quantize made them. Throw Error{usage} if a code has no codebook entry.
Values encode_fixed16(std::span<const std::int16_t> codes, float scale);
Values encode_fixed8(std::span<const std::int8_t> codes, float scale);
Values encode_codebook(Encoding encoding, std::span<const std::uint8_t> codes,
                       std::vector<Half> codebook);

// `values`, which have a codebook, with a factor per channel. Throws Error{usage} if they do not
// fit.
Values with_channel_scale(Values values, std::vector<Half> channel_scale, int lanes);

// All values as floats, [count]: a product of two half floats is exact. Throws Error{usage} if
// find_defect finds one.
std::vector<float> decode(const Values& values);

// `floats.size()` values from number `first` on, for those who need not have all at once. Requires
// values without a defect that has them.
void decode_part(const Values& values, std::int64_t first, std::span<float> floats);

// Names the first rule that `values` breaks (sizes, codes without entry, codebook entries or
// channel scales not finite, fp32 or fp16 values not finite, channels that the values do not divide
// into, an unused nibble that is not 0, scale not finite and positive; an encoding without scale
// has 1, one without codebook an empty one and no channel scales); empty if none. Safe on any
// input.
std::string find_defect(const Values& values);

}  // namespace winnow
