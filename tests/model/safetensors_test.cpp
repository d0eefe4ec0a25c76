#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/base/file.h"
#include "runtime/model/little_endian.h"
#include "runtime/model/safetensors.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

SafetensorsFile sample() {
  SafetensorsFile file;
  file.tensors["a"] = Tensor::from<std::uint8_t>({3}, std::array<std::uint8_t, 3>{1, 2, 3});
  file.tensors["b"] = Tensor::from<float>({1, 2}, std::array{1.5f, -2.0f});
  file.tensors["c"] = Tensor::from<std::int16_t>({}, std::array<std::int16_t, 1>{-7});
  file.tensors["empty"] = Tensor(DataType::f64, {0, 5});
  file.metadata = {{"format", "pt"}, {"seed", "7"}};
  return file;
}

std::string file_of(std::string_view header, std::size_t data_bytes) {
  std::vector<std::byte> bytes;
  append<std::uint64_t>(bytes, header.size());
  append_bytes(bytes, std::as_bytes(std::span(header)));
  bytes.resize(bytes.size() + data_bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Without the care of write_file_atomically, whose syncs take their time.
void write(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string refusal(const std::string& content) {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.safetensors";
  write(path, content);
  CHECK(error_of([&] { read_safetensors(path); }) == ErrorCode::bad_file);
  const std::string message = message_of([&] { read_safetensors(path); });
  CHECK(message.starts_with(path));
  return message.substr(path.size());
}

bool refuses(const std::string& content, const std::string& part) {
  const std::string message = refusal(content);
  INFO(message);
  return message.find(part) != std::string::npos;
}

// A header with one tensor of these fields.
std::string tensor(const std::string& fields) {
  return "{\"t\":{" + fields + "}}";
}

TEST_CASE("safetensors come back equal, and equal files have equal bytes") {
  const TemporaryDirectory directory;
  write_safetensors(directory / "one", sample());
  const SafetensorsFile restored = read_safetensors(directory / "one");
  CHECK(restored.tensors == sample().tensors);
  CHECK(restored.metadata == sample().metadata);
  write_safetensors(directory / "two", restored);
  CHECK(read_text_file(directory / "one") == read_text_file(directory / "two"));
}

TEST_CASE("safetensors are laid out as the format says, every tensor aligned to its element") {
  const TemporaryDirectory directory;
  SafetensorsFile file = sample();
  file.tensors.erase("empty");
  file.metadata.clear();
  write_safetensors(directory / "x", file);
  const std::string text = read_text_file(directory / "x");
  const std::string header = R"({"a":{"data_offsets":[10,13],"dtype":"U8","shape":[3]},)"
                             R"("b":{"data_offsets":[0,8],"dtype":"F32","shape":[1,2]},)"
                             R"("c":{"data_offsets":[8,10],"dtype":"I16","shape":[]}})";
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  CHECK(load<std::uint64_t>(reinterpret_cast<const std::byte*>(text.data())) == padded);
  CHECK(text.substr(8, padded) == header + std::string(padded - header.size(), ' '));
  CHECK(text.substr(8 + padded) == std::string("\0\0\xc0\x3f\0\0\0\xc0\xf9\xff\1\2\3", 13));
}

TEST_CASE("a file without tensors is a file") {
  const TemporaryDirectory directory;
  write_safetensors(directory / "none", {});
  CHECK(read_safetensors(directory / "none").tensors.empty());
}

TEST_CASE("a safetensors file cut short at any byte is refused") {
  const TemporaryDirectory directory;
  write_safetensors(directory / "x", sample());
  const std::string text = read_text_file(directory / "x");
  for (std::size_t size = 0; size < text.size(); ++size) {
    write(directory / "cut", std::string_view(text).substr(0, size));
    CAPTURE(size);
    CHECK(error_of([&] { read_safetensors(directory / "cut"); }) == ErrorCode::bad_file);
  }
}

TEST_CASE("header lengths are checked before anything is allocated") {
  CHECK(refuses("1234567", "7 bytes are too few"));
  std::string huge = file_of("{}", 0);
  const std::uint64_t lengths[] = {100'000'001, ~std::uint64_t{0}};
  for (const std::uint64_t length : lengths) {
    std::memcpy(huge.data(), &length, 8);
    CHECK(refuses(huge, "at most 100000000 are allowed"));
  }
  std::string longer = file_of("{}", 0);
  longer[0] = 3;
  CHECK(refuses(longer, "header is 3 bytes long, the file has 2"));
}

TEST_CASE("headers outside the grammar are refused") {
  CHECK(refuses(file_of("", 0), "must begin with '{'"));
  CHECK(refuses(file_of(" {}", 0), "must begin with '{'"));
  CHECK(refuses(file_of("{", 0), "not valid JSON"));
  CHECK(refuses(file_of("{}}", 0), "not valid JSON"));
  CHECK(refuses(file_of("{\"t\":1}", 0), "unexpected a number in 't'"));
  CHECK(refuses(file_of("{\"t\":[]}", 0), "unexpected an array"));
  CHECK(refuses(file_of("{\"t\":null}", 0), "unexpected null"));
  CHECK(refuses(file_of(tensor(""), 0), "'t' needs dtype, shape and data_offsets"));
  CHECK(refuses(file_of(tensor(R"("dtype":"U8","shape":[])"), 0), "needs dtype, shape"));
  CHECK(refuses(file_of(tensor(R"("dtype":"U7")"), 0), "U7"));
  CHECK(refuses(file_of(tensor(R"("dtype":8)"), 0), "unexpected a number"));
  CHECK(refuses(file_of(tensor(R"("dtype":["U8"])"), 0), "unexpected an array"));
  CHECK(refuses(file_of(tensor(R"("shape":"x")"), 0), "unexpected a string"));
  CHECK(refuses(file_of(tensor(R"("shape":[-1])"), 0), "unexpected a negative number"));
  CHECK(refuses(file_of(tensor(R"("shape":[1.5])"), 0), "unexpected a fraction"));
  CHECK(refuses(file_of(tensor(R"("shape":[[1]])"), 0), "unexpected an array"));
  CHECK(refuses(file_of(tensor(R"("shape":[18446744073709551615])"), 0), "has dimension"));
  CHECK(refuses(file_of(tensor(R"("data_offsets":[0])"), 0), "two data_offsets"));
  CHECK(refuses(file_of(tensor(R"("data_offsets":[0,0,0])"), 0), "unexpected a number"));
  CHECK(refuses(file_of(tensor(R"("shapes":[])"), 0), "unknown field 'shapes'"));
  CHECK(refuses(file_of(tensor(R"("shape":[],"shape":[])"), 0), "field 'shape' twice"));
  CHECK(refuses(file_of(R"({"__metadata__":{"a":1}})", 0), "unexpected a number"));
  CHECK(refuses(file_of(R"({"__metadata__":{"a":{}}})", 0), "unexpected an object"));
  CHECK(refuses(file_of(R"({"__metadata__":{"a":"","a":""}})", 0), "metadata 'a' appears twice"));
  CHECK(refuses(file_of(R"({"__metadata__":{},"__metadata__":{}})", 0), "appears twice"));
  const std::string twice = R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  CHECK(refuses(file_of("{" + twice + "," + twice + "}", 0), "'t' appears twice"));
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  CHECK(refuses(file_of(tensor("\"shape\":[" + many + "]"), 0), "more than 64 dimensions"));
  CHECK(refuses(file_of(std::string(100000, '{'), 0), "header"));
}

TEST_CASE("spans that do not cover the data exactly are refused") {
  const auto one = [](const std::string& shape, const std::string& offsets) {
    return tensor(R"("dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets);
  };
  CHECK(
      refuses(file_of(one("[2]", "[0,8]"), 7), "[0, 8], expected to begin at 0 and end within 7"));
  CHECK(refuses(file_of(one("[2]", "[0,8]"), 9), "tensors end at byte 8 of the data"));
  CHECK(refuses(file_of(one("[2]", "[1,9]"), 9), "expected to begin at 0"));
  CHECK(refuses(file_of(one("[2]", "[8,0]"), 8), "expected to begin at 0"));
  CHECK(refuses(file_of(one("[3]", "[0,8]"), 8), "span 8 bytes, F32 [3] takes 12"));
  CHECK(refuses(file_of(one("[4611686018427387905]", "[0,4]"), 4), "span 4 bytes"));
  CHECK(refuses(file_of(one("[4294967296,4294967296,4]", "[0,0]"), 0), "span 0 bytes"));
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  CHECK(refuses(file_of(two("[0,4]", "[3,7]"), 7),
                "'b': data_offsets [3, 7], expected to begin at 4"));
  CHECK(refuses(file_of(two("[0,4]", "[5,9]"), 9),
                "'b': data_offsets [5, 9], expected to begin at 4"));
  CHECK(refuses(file_of(two("[0,4]", "[0,4]"), 4), "'b'"));
}

TEST_CASE("tensors may lie in another order than their names") {
  const TemporaryDirectory directory;
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                             R"("b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}  )";
  write(directory / "x", file_of(header, 2));
  CHECK(read_safetensors(directory / "x").tensors.size() == 2);
}

TEST_CASE("what cannot be written is refused before a file appears") {
  const TemporaryDirectory directory;
  SafetensorsFile file;
  file.tensors["__metadata__"] = Tensor(DataType::u8, {1});
  CHECK(error_of([&] { write_safetensors(directory / "x", file); }) == ErrorCode::usage);
  file.tensors.clear();
  file.metadata["a"] = "\xff";
  CHECK(error_of([&] { write_safetensors(directory / "x", file); }) == ErrorCode::usage);
  CHECK(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace winnow
