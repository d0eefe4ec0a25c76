#include "runtime/model/values.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

#include "tests/throws.h"

namespace winnow {
namespace {

constexpr Encoding kAll[] = {Encoding::f32,    Encoding::f16,       Encoding::fixed16,
                             Encoding::fixed8, Encoding::codebook8, Encoding::codebook4};

std::vector<Half> halves(std::initializer_list<float> values) {
  std::vector<Half> result;
  for (const float value : values) result.push_back(to_half(value));
  return result;
}

Values codes4(const std::vector<std::uint8_t>& codes) {
  return encode_codebook(Encoding::codebook4, codes, halves({0, 0.5f, -1, 2}));
}

}  // namespace

TEST_CASE("stored_bytes counts nibbles in whole bytes") {
  CHECK(stored_bytes(Encoding::f32, 5) == 20);
  CHECK(stored_bytes(Encoding::f16, 5) == 10);
  CHECK(stored_bytes(Encoding::fixed16, 5) == 10);
  CHECK(stored_bytes(Encoding::fixed8, 5) == 5);
  CHECK(stored_bytes(Encoding::codebook8, 5) == 5);
  CHECK(stored_bytes(Encoding::codebook4, 5) == 3);
  CHECK(stored_bytes(Encoding::codebook4, 0) == 0);
}

TEST_CASE("stored_bytes refuses impossible counts and encodings") {
  CHECK(error_of([] { stored_bytes(Encoding::f32, -1); }) == ErrorCode::usage);
  CHECK(error_of([] { stored_bytes(Encoding::f32, std::numeric_limits<std::int64_t>::max()); }) ==
        ErrorCode::usage);
  CHECK(error_of([] { stored_bytes(static_cast<Encoding>(9), 1); }) == ErrorCode::usage);
}

TEST_CASE("floats come back exactly, halves rounded") {
  const std::vector<float> values = {1.0f, -0.1f, 1e-30f, 60001.0f};
  CHECK(decode(encode_f32(values)) == values);
  const std::vector<float> rounded = decode(encode_f16(values));
  CHECK(rounded[0] == 1.0f);
  CHECK(rounded[1] == doctest::Approx(-0.1f).epsilon(0.001));
  CHECK(rounded[1] == to_float(to_half(-0.1f)));
  CHECK(rounded[2] == 0.0f);
  CHECK(rounded[3] == 60000.0f);
}

TEST_CASE("fixed point values are codes times scale") {
  const std::vector<std::int16_t> wide = {-32768, 0, 3, 32767};
  CHECK(decode(encode_fixed16(wide, 0.25f)) == std::vector<float>{-8192, 0, 0.75f, 8191.75f});
  const std::vector<std::int8_t> narrow = {-128, 127};
  CHECK(decode(encode_fixed8(narrow, 0.5f)) == std::vector<float>{-64, 63.5f});
}

TEST_CASE("the even code lies in the low nibble") {
  const Values values = codes4({1, 2, 3});
  REQUIRE(values.data.size() == 2);
  CHECK(values.data[0] == std::byte{0x21});
  CHECK(values.data[1] == std::byte{0x03});
  CHECK(decode(values) == std::vector<float>{0.5f, -1, 2});
}

TEST_CASE("codebooks of every size decode what was encoded") {
  std::mt19937 random(5);
  for (const Encoding encoding : {Encoding::codebook4, Encoding::codebook8}) {
    const std::size_t most = encoding == Encoding::codebook4 ? 16 : 256;
    for (std::size_t entries = 1; entries <= most; entries += entries < 16 ? 1 : 60) {
      std::vector<Half> codebook(entries);
      for (std::size_t i = 0; i < entries; ++i)
        codebook[i] = to_half(0.125f * static_cast<float>(i));
      std::vector<std::uint8_t> codes(random() % 40);
      std::vector<float> expected;
      for (std::uint8_t& code : codes) {
        code = static_cast<std::uint8_t>(random() % entries);
        expected.push_back(0.125f * code);
      }
      const Values values = encode_codebook(encoding, codes, codebook);
      REQUIRE(find_defect(values).empty());
      REQUIRE(decode(values) == expected);
    }
  }
}

TEST_CASE("channel scales multiply the values of their channels") {
  const Values rows = with_channel_scale(codes4({1, 2, 3, 1, 2, 3}), halves({2, -0.5f}), 1);
  CHECK(find_defect(rows) == "");
  CHECK(decode(rows) == std::vector<float>{1, -2, 4, -0.25f, 0.5f, -1});

  // Two rows of two blocks of 8 channels, of which there are 9: the rest of the last row is 0.
  std::vector<std::uint8_t> codes(32, 1);
  std::vector<float> scales, expected(32, 0.0f);
  for (int channel = 0; channel < 9; ++channel)
    scales.push_back(0.25f * static_cast<float>(channel));
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t channel = i / 16 * 8 + i % 8;
    if (channel < 9) {
      expected[i] = 0.5f * scales[channel];
    } else {
      codes[i] = 0;
    }
  }
  std::vector<Half> nine;
  for (const float scale : scales) nine.push_back(to_half(scale));
  CHECK(decode(with_channel_scale(codes4(codes), nine, 8)) == expected);
}

TEST_CASE("a part of the values is that part of all of them") {
  std::vector<std::uint8_t> codes;
  for (int i = 0; i < 64; ++i) codes.push_back(static_cast<std::uint8_t>(i * 7 % 4));
  std::vector<Half> scales;
  for (int i = 0; i < 15; ++i) scales.push_back(to_half(0.5f * static_cast<float>(i)));
  // The second row has 7 channels; its last lane is empty.
  for (std::size_t i = 39; i < 64; i += 8) codes[i] = 0;
  for (const Values& values : {codes4(codes), with_channel_scale(codes4(codes), scales, 8)}) {
    const std::vector<float> all = decode(values);
    for (std::size_t first = 0; first < 64; first += 5) {
      for (std::size_t count = 0; first + count <= 64; count += 9) {
        std::vector<float> part(count);
        decode_part(values, static_cast<std::int64_t>(first), part);
        CHECK(
            std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
      }
    }
  }
}

TEST_CASE("channel scales that do not fit are named") {
  const auto defect = [](const Values& values, std::vector<Half> scales, int lanes) {
    CHECK(error_of([&] { with_channel_scale(values, scales, lanes); }) == ErrorCode::usage);
    Values broken = values;
    broken.channel_scale = std::move(scales);
    broken.lanes = lanes;
    return find_defect(broken);
  };
  const Values six = codes4({1, 2, 3, 1, 2, 3});
  CHECK(defect(six, halves({1, 1, 1, 1}), 1) ==
        "4 channel scales do not fit 6 values in rows of 1 channels");
  CHECK(defect(six, halves({1, 1}), 8) ==
        "2 channel scales do not fit 6 values in rows of 8 channels");
  CHECK(defect(six, halves({1, 1}), 2) == "2 channels alternate, expected 1, 8, 16 or 32");
  CHECK(defect(six, halves({1, 1}), 0) == "0 channels alternate, expected 1, 8, 16 or 32");
  CHECK(defect(six, {}, 8) == "8 channels alternate, expected 1");
  CHECK(defect(six, {to_half(1), Half{0x7c00}}, 1) == "channel scale 1 is not finite");
  CHECK(defect(six, {Half{0x7e00}, to_half(1)}, 1) == "channel scale 0 is not finite");
  CHECK(defect(encode_f32(std::vector<float>{1, 2}), halves({1, 1}), 1) ==
        "channel scales without a codebook");
}

TEST_CASE("encoders refuse codes without entry, large codebooks and senseless scales") {
  const std::vector<std::uint8_t> codes = {0, 4};
  const std::vector<std::int8_t> fixed = {1};
  CHECK(message_of([&] { codes4(codes); }) == "code 4 has no entry in a codebook of 4");
  CHECK(error_of([&] { encode_codebook(Encoding::codebook4, codes, std::vector<Half>(17)); }) ==
        ErrorCode::usage);
  CHECK(error_of([&] { encode_codebook(Encoding::f16, codes, std::vector<Half>(16)); }) ==
        ErrorCode::usage);
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    CHECK(error_of([&] { encode_fixed8(fixed, scale); }) == ErrorCode::usage);
  }
}

TEST_CASE("no values at all are fine in every encoding") {
  for (const Encoding encoding : kAll) {
    Values values;
    values.encoding = encoding;
    CHECK(find_defect(values) == "");
    CHECK(decode(values).empty());
    CHECK(to_string(encoding) != "unknown encoding");
  }
}

TEST_CASE("find_defect names what hostile values break, and decode refuses them") {
  const auto broken = [](auto change) {
    Values values = codes4({1, 2, 3});
    change(values);
    CHECK(error_of([&] { decode(values); }) == ErrorCode::usage);
    return find_defect(values);
  };
  CHECK(broken([](Values& v) { v.encoding = static_cast<Encoding>(0); }) ==
        "encoding 0 is unknown");
  CHECK(broken([](Values& v) { v.count = -1; }) == "-1 values cannot be stored");
  CHECK(broken([](Values& v) { v.count = std::numeric_limits<std::int64_t>::max(); }) ==
        "9223372036854775807 values cannot be stored");
  CHECK(broken([](Values& v) { v.count = 5; }) == "2 bytes of values, expected 3 for 5");
  CHECK(broken([](Values& v) { v.data.pop_back(); }) == "1 bytes of values, expected 2 for 3");
  CHECK(broken([](Values& v) { v.scale = 2; }) == "scale is 2, expected 1");
  CHECK(broken([](Values& v) {
          v = encode_f32(std::vector<float>{1, 2, std::numeric_limits<float>::quiet_NaN()});
        }) == "value 2 is nan, expected a finite number");
  CHECK(broken([](Values& v) {
          v = encode_f16(std::vector<float>{1, -70000});
        }) == "value 1 is -inf, expected a finite number");
  CHECK(broken([](Values& v) {
          v = encode_fixed16(std::vector<std::int16_t>{1}, 1);
          v.scale = 1e37f;
        }) == "scale is 1e+37, so that codes stand for no finite numbers");
  CHECK(broken([](Values& v) { v.codebook.pop_back(); }) ==
        "value 2 has code 3, the codebook has 3 entries");
  CHECK(broken([](Values& v) { v.codebook.resize(17); }) ==
        "codebook has 17 entries, at most 16 expected");
  CHECK(broken([](Values& v) { v.codebook[0].bits = 0x7c00; }) == "codebook entry 0 is not finite");
  CHECK(broken([](Values& v) { v.data[1] |= std::byte{0x10}; }) == "the unused nibble is not 0");
  CHECK(broken([](Values& v) {
          v.encoding = Encoding::f16;
          v.count = 1;
        }) == "codebook has 4 entries, at most 0 expected");
}

}  // namespace winnow
