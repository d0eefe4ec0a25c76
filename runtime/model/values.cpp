#include "runtime/model/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/model/vector_size.h"

namespace winnow {
namespace {

static_assert(std::endian::native == std::endian::little, "values are little-endian bytes");

bool is_known(Encoding encoding) {
  return encoding >= Encoding::f32 && encoding <= Encoding::codebook4;
}

bool has_scale(Encoding encoding) {
  return encoding == Encoding::fixed16 || encoding == Encoding::fixed8;
}

bool has_codebook(Encoding encoding) {
  return encoding == Encoding::codebook8 || encoding == Encoding::codebook4;
}

std::size_t codebook_limit(Encoding encoding) {
  if (encoding == Encoding::codebook8) return 256;
  return encoding == Encoding::codebook4 ? 16 : 0;
}

int bits_per_value(Encoding encoding) {
  switch (encoding) {
    case Encoding::f32:
      return 32;
    case Encoding::f16:
    case Encoding::fixed16:
      return 16;
    case Encoding::fixed8:
    case Encoding::codebook8:
      return 8;
    case Encoding::codebook4:
      return 4;
  }
  fail(ErrorCode::usage, "encoding ", static_cast<int>(encoding), " is unknown");
}

template <typename T>
T stored(const Values& values, std::int64_t index) {
  T value;
  std::memcpy(&value, values.data.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

std::uint8_t code_at(const Values& values, std::int64_t index) {
  if (values.encoding == Encoding::codebook8) return stored<std::uint8_t>(values, index);
  const auto pair = stored<std::uint8_t>(values, index / 2);
  return index % 2 == 0 ? pair & 15 : pair >> 4;
}

float value_at(const Values& values, std::int64_t index) {
  switch (values.encoding) {
    case Encoding::f32:
      return stored<float>(values, index);
    case Encoding::f16:
      return to_float(stored<Half>(values, index));
    case Encoding::fixed16:
      return values.scale * static_cast<float>(stored<std::int16_t>(values, index));
    case Encoding::fixed8:
      return values.scale * static_cast<float>(stored<std::int8_t>(values, index));
    case Encoding::codebook8:
    case Encoding::codebook4:
      return to_float(values.codebook[code_at(values, index)]);
  }
  fail(ErrorCode::internal, "encoding ", static_cast<int>(values.encoding), " is unknown");
}

// An object of `encoding` whose bytes are those of `items`.
template <typename T>
Values packed(Encoding encoding, std::span<const T> items) {
  Values values;
  values.encoding = encoding;
  values.count = static_cast<std::int64_t>(items.size());
  const auto bytes = std::as_bytes(items);
  values.data.assign(bytes.begin(), bytes.end());
  return values;
}

std::int64_t rows_of(const Values& values) {
  const auto channels = static_cast<std::int64_t>(values.channel_scale.size());
  return (channels + values.lanes - 1) / values.lanes;
}

// floats holds the values from `first` on.
void apply_channel_scale(const Values& values, std::int64_t first, std::span<float> floats) {
  if (floats.empty()) return;
  const auto lanes = static_cast<std::size_t>(values.lanes);
  const auto row_size = static_cast<std::size_t>(values.count / rows_of(values));
  std::size_t row = static_cast<std::size_t>(first) / row_size;
  std::size_t at = static_cast<std::size_t>(first) % row_size;
  for (float& x : floats) {
    const std::size_t channel = row * lanes + at % lanes;  // lanes is a power of two
    if (channel < values.channel_scale.size()) x *= to_float(values.channel_scale[channel]);
    if (++at == row_size) {
      at = 0;
      ++row;
    }
  }
}

// Nothing that the functions below make may break a rule of find_defect.
Values checked(Values values) {
  const std::string defect = find_defect(values);
  if (!defect.empty()) fail(ErrorCode::usage, to_string(values.encoding), " values: ", defect);
  return values;
}

std::string scale_defect(const Values& values) {
  const bool is_used = has_scale(values.encoding);
  const bool is_good =
      is_used ? std::isfinite(values.scale) && values.scale > 0 : values.scale == 1.0f;
  std::ostringstream text;
  text << "scale is " << values.scale;
  if (!is_good) {
    text << ", expected " << (is_used ? "a positive number" : "1");
    return text.str();
  }
  if (std::isfinite(values.scale * 32768)) return "";  // no code is larger
  text << ", so that codes stand for no finite numbers";
  return text.str();
}

std::string codebook_defect(const Values& values) {
  const std::size_t limit = codebook_limit(values.encoding);
  if (values.codebook.size() > limit) {
    return "codebook has " + std::to_string(values.codebook.size()) + " entries, at most " +
           std::to_string(limit) + " expected";
  }
  for (std::size_t i = 0; i < values.codebook.size(); ++i) {
    if (!std::isfinite(to_float(values.codebook[i]))) {
      return "codebook entry " + std::to_string(i) + " is not finite";
    }
  }
  return "";
}

std::string channel_scale_defect(const Values& values) {
  const std::size_t channels = values.channel_scale.size();
  const int lanes = values.lanes;
  if (!is_vector_size(lanes) || (channels == 0 && lanes != 1)) {
    return std::to_string(lanes) + " channels alternate, expected " +
           (channels == 0 ? "1" : kVectorSizes);
  }
  if (channels == 0) return "";
  if (!has_codebook(values.encoding)) return "channel scales without a codebook";
  if (values.count % (rows_of(values) * lanes) != 0) {
    return std::to_string(channels) + " channel scales do not fit " + std::to_string(values.count) +
           " values in rows of " + std::to_string(lanes) + " channels";
  }
  for (std::size_t i = 0; i < channels; ++i) {
    if (!std::isfinite(to_float(values.channel_scale[i]))) {
      return "channel scale " + std::to_string(i) + " is not finite";
    }
  }
  return "";
}

// What no kernel can compute with: NaN and infinity.
std::string number_defect(const Values& values) {
  if (values.encoding != Encoding::f32 && values.encoding != Encoding::f16) return "";
  for (std::int64_t i = 0; i < values.count; ++i) {
    const float value = value_at(values, i);
    if (std::isfinite(value)) continue;
    std::ostringstream text;
    text << "value " << i << " is " << value << ", expected a finite number";
    return text.str();
  }
  return "";
}

std::string code_defect(const Values& values) {
  if (!has_codebook(values.encoding)) return "";
  for (std::int64_t i = 0; i < values.count; ++i) {
    const std::size_t code = code_at(values, i);
    if (code < values.codebook.size()) continue;
    return "value " + std::to_string(i) + " has code " + std::to_string(code) +
           ", the codebook has " + std::to_string(values.codebook.size()) + " entries";
  }
  const bool has_spare_nibble = values.encoding == Encoding::codebook4 && values.count % 2 == 1;
  if (has_spare_nibble && code_at(values, values.count) != 0) return "the unused nibble is not 0";
  return "";
}

}  // namespace

std::string_view to_string(Encoding encoding) {
  switch (encoding) {
    case Encoding::f32:
      return "f32";
    case Encoding::f16:
      return "f16";
    case Encoding::fixed16:
      return "fixed16";
    case Encoding::fixed8:
      return "fixed8";
    case Encoding::codebook8:
      return "codebook8";
    case Encoding::codebook4:
      return "codebook4";
  }
  return "unknown encoding";
}

std::int64_t stored_bytes(Encoding encoding, std::int64_t count) {
  const int bits = bits_per_value(encoding);
  const bool is_possible = count >= 0 && count <= std::numeric_limits<std::int64_t>::max() / 32;
  if (!is_possible) fail(ErrorCode::usage, count, " values cannot be stored");
  return (count * bits + 7) / 8;
}

Values encode_f32(std::span<const float> values) {
  return packed(Encoding::f32, values);
}

Values encode_f16(std::span<const float> values) {
  std::vector<Half> halves(values.size());
  std::transform(values.begin(), values.end(), halves.begin(), to_half);
  return packed(Encoding::f16, std::span<const Half>(halves));
}

Values encode_fixed16(std::span<const std::int16_t> codes, float scale) {
  Values values = packed(Encoding::fixed16, codes);
  values.scale = scale;
  return checked(std::move(values));
}

Values encode_fixed8(std::span<const std::int8_t> codes, float scale) {
  Values values = packed(Encoding::fixed8, codes);
  values.scale = scale;
  return checked(std::move(values));
}

Values encode_codebook(Encoding encoding, std::span<const std::uint8_t> codes,
                       std::vector<Half> codebook) {
  if (!has_codebook(encoding)) fail(ErrorCode::usage, to_string(encoding), " has no codebook");
  for (const std::uint8_t code : codes) {
    if (code < codebook.size()) continue;
    fail(ErrorCode::usage, "code ", int{code}, " has no entry in a codebook of ", codebook.size());
  }
  Values values = packed(encoding, codes);
  values.codebook = std::move(codebook);
  if (encoding == Encoding::codebook4) {
    values.data.assign((codes.size() + 1) / 2, std::byte{0});
    for (std::size_t i = 0; i < codes.size(); ++i) {
      values.data[i / 2] |= static_cast<std::byte>(codes[i] & 15) << (i % 2 * 4);
    }
  }
  return checked(std::move(values));
}

Values with_channel_scale(Values values, std::vector<Half> channel_scale, int lanes) {
  values.channel_scale = std::move(channel_scale);
  values.lanes = lanes;
  return checked(std::move(values));
}

std::vector<float> decode(const Values& values) {
  const std::string defect = find_defect(values);
  if (!defect.empty()) fail(ErrorCode::usage, to_string(values.encoding), " values: ", defect);
  std::vector<float> floats(static_cast<std::size_t>(values.count));
  decode_part(values, 0, floats);
  return floats;
}

void decode_part(const Values& values, std::int64_t first, std::span<float> floats) {
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = value_at(values, first + static_cast<std::int64_t>(i));
  }
  if (!values.channel_scale.empty()) apply_channel_scale(values, first, floats);
}

std::string find_defect(const Values& values) {
  if (!is_known(values.encoding)) {
    return "encoding " + std::to_string(static_cast<int>(values.encoding)) + " is unknown";
  }
  if (values.count < 0 || values.count > std::numeric_limits<std::int64_t>::max() / 32) {
    return std::to_string(values.count) + " values cannot be stored";
  }
  const std::int64_t expected = stored_bytes(values.encoding, values.count);
  if (values.data.size() != static_cast<std::uint64_t>(expected)) {
    return std::to_string(values.data.size()) + " bytes of values, expected " +
           std::to_string(expected) + " for " + std::to_string(values.count);
  }
  for (const auto& check :
       {scale_defect, codebook_defect, channel_scale_defect, code_defect, number_defect}) {
    std::string defect = check(values);
    if (!defect.empty()) return defect;
  }
  return "";
}

}  // namespace winnow
