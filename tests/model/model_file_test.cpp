#include "runtime/model/model_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "runtime/base/file.h"
#include "tests/model/sample_models.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const std::string kRoot = WINNOW_SOURCE_DIR;
const std::string kGolden = kRoot + "/tests/model/data/golden-1.0.wnw";
const std::string kGoldenScaled = kRoot + "/tests/model/data/golden-1.1.wnw";
const std::string kGoldenText = kRoot + "/tests/model/data/golden-1.2.wnw";

// The bytes of all lines "00000040: 01 02 ..." of the document; address 0 begins a file.
std::vector<std::vector<std::byte>> dumps_in(const std::string& path) {
  std::istringstream text(read_text_file(path));
  std::vector<std::vector<std::byte>> files;
  for (std::string line; std::getline(text, line);) {
    const bool is_dump =
        line.size() > 10 && line.find(": ") == 8 && line.find_first_not_of("0123456789abcdef") == 8;
    if (!is_dump) continue;
    const unsigned long address = std::stoul(line.substr(0, 8), nullptr, 16);
    if (address == 0) files.emplace_back();
    REQUIRE(!files.empty());
    CHECK(address == files.back().size());
    std::istringstream numbers(line.substr(10, 47));
    for (unsigned number; numbers >> std::hex >> number;) files.back().push_back(std::byte(number));
  }
  return files;
}

std::vector<std::byte> bytes_of(const std::string& path) {
  const MappedFile file(path);
  return {file.bytes().begin(), file.bytes().end()};
}

TEST_CASE("random models come back equal, and equal models give equal bytes") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const DeployedModel model = random_deployed_model(seed);
    const std::vector<std::byte> bytes = serialize_model_file(model);
    const DeployedModel restored = parse_model_file(bytes, "random");
    CHECK(restored == model);
    CHECK(serialize_model_file(restored) == bytes);
  }
}

TEST_CASE("a written file reads back equal") {
  const TemporaryDirectory directory;
  const DeployedModel model = random_deployed_model(1000);
  write_model_file(directory / "model.wnw", model);
  CHECK(read_model_file(directory / "model.wnw") == model);
  CHECK(bytes_of(directory / "model.wnw") == serialize_model_file(model));
}

TEST_CASE("the golden file of format 1.0 stays readable and is what we still write") {
  const std::vector<std::byte> golden = bytes_of(kGolden);
  CHECK(parse_model_file(golden, kGolden) == golden_model());
  CHECK(serialize_model_file(golden_model()) == golden);
}

TEST_CASE("the golden file of format 1.1 stays readable and is what we still write") {
  const std::vector<std::byte> golden = bytes_of(kGoldenScaled);
  CHECK(parse_model_file(golden, kGoldenScaled) == golden_scaled_model());
  CHECK(serialize_model_file(golden_scaled_model()) == golden);
  CHECK(dense_floats(golden_scaled_model().weights.at("fc.weight")) ==
        std::vector<float>{1, 0, 0, -2, 0, -0.5f, 0, 0});
}

TEST_CASE("the golden file of format 1.2 stays readable and has the section of the page") {
  const std::vector<std::byte> bytes = bytes_of(kGoldenText);
  CHECK(parse_model_file(bytes, kGoldenText) == text_model());
  CHECK(serialize_model_file(text_model()) == bytes);
  CHECK(bytes[10] == std::byte{2});
  CHECK(bytes[40] == std::byte{2});
  const std::string_view section("\1\0\0\0\2\0\0\0film\nn't\n", 17);
  const auto wanted = std::as_bytes(std::span(section));
  CHECK(std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end()) != bytes.end());
}

TEST_CASE("the hex dumps in docs/model-file.md are the golden files") {
  const std::vector<std::vector<std::byte>> expected = {bytes_of(kGolden), bytes_of(kGoldenScaled)};
  CHECK(dumps_in(kRoot + "/docs/model-file.md") == expected);
}

TEST_CASE("a file cut short at any byte is refused") {
  for (const std::string& path : {kGolden, kGoldenScaled, kGoldenText}) {
    const std::vector<std::byte> golden = bytes_of(path);
    for (std::size_t size = 0; size < golden.size(); ++size) {
      CAPTURE(size);
      CHECK(error_of([&] { parse_model_file(std::span(golden).first(size), "cut"); }) ==
            ErrorCode::bad_file);
    }
  }
}

TEST_CASE("a file with any bit flipped is refused") {
  for (const std::string& path : {kGolden, kGoldenScaled, kGoldenText}) {
    std::vector<std::byte> golden = bytes_of(path);
    for (std::size_t bit = 0; bit < golden.size() * 8; ++bit) {
      CAPTURE(bit);
      const std::byte mask{static_cast<unsigned char>(1u << bit % 8)};
      golden[bit / 8] ^= mask;
      CHECK(error_of([&] { parse_model_file(golden, "flipped"); }) == ErrorCode::bad_file);
      golden[bit / 8] ^= mask;
    }
  }
}

TEST_CASE("stored sizes are those of the file's sections") {
  const std::vector<StoredSize> sizes = stored_sizes(golden_model());
  REQUIRE(sizes.size() == 4);
  CHECK(sizes[0].name == "conv.bias");
  CHECK(sizes[0].index_bytes == 0);
  CHECK(sizes[0].value_bytes == 8);
  CHECK(sizes[1].name == "conv.weight");
  CHECK(sizes[1].index_bytes == 7);   // two counts of two bytes, three deltas
  CHECK(sizes[1].value_bytes == 10);  // four codebook entries, three nibbles
  CHECK(sizes[1].dense_f32_bytes == 32);
  CHECK(sizes[3].value_bytes == 16);
  CHECK(sizes[3].dense_f32_bytes == 64);
  CHECK(stored_sizes(golden_scaled_model())[0].value_bytes == 14);  // and two channel scales
}

TEST_CASE("channel scales of a weight of another shape are not written") {
  DeployedModel model = golden_scaled_model();
  auto& sparse = std::get<CsrWeight>(model.weights.at("fc.weight"));
  sparse.values.channel_scale.pop_back();
  CHECK(message_of([&] {
          serialize_model_file(model);
        }).find("1 channel scales in rows of 1 channels, expected 2 in rows of 1") !=
        std::string::npos);
  const std::vector<std::uint8_t> codes(8, 1);
  const std::vector<Half> halves(4, to_half(1));
  model.weights["fc.weight"] = DenseWeight{
      {2, 4}, with_channel_scale(encode_codebook(Encoding::codebook4, codes, halves), halves, 1)};
  CHECK(message_of([&] {
          serialize_model_file(model);
        }).find("4 channel scales in rows of 1 channels, shape is [2, 4]") != std::string::npos);
}

TEST_CASE("a model that a reader would refuse is not written") {
  const TemporaryDirectory directory;
  DeployedModel model = golden_model();
  model.weights.erase("fc.bias");
  CHECK(error_of([&] { write_model_file(directory / "model.wnw", model); }) == ErrorCode::bad_file);
  CHECK(message_of([&] { read_model_file(directory / "model.wnw"); }).find("model.wnw") !=
        std::string::npos);
}

TEST_CASE("decoded weights beyond the caller's limit are refused") {
  const std::vector<std::byte> golden = bytes_of(kGolden);
  // 8 + (16 column + 8 kept + 2 value + 8 codebook) + 8 + 16
  CHECK_NOTHROW(parse_model_file(golden, "golden", {66}));
  CHECK(message_of([&] { parse_model_file(golden, "golden", {65}); }) ==
        "golden: decoded weights take 66 bytes, at most 65 are allowed");
}

TEST_CASE("a million and a half blocks load in a moment") {
  Random random(4);
  DeployedModel model;
  Conv op;
  op.in_channels = 512;
  op.out_channels = 2048;
  op.kernel = {3, 3};
  op.has_bias = false;
  model.graph = {"large", {{"input", Input{{512, 3, 3}, false}, {}}, {"conv", op, {"input"}}}};
  std::vector<std::uint8_t> mask(std::size_t{2048} * 4608);
  for (std::uint8_t& block : mask) block = random.chance(0.15);
  const CsrPattern pattern = build_csr_pattern(mask, 2048, 4608, 1);
  std::vector<std::uint8_t> nonzero;
  for (const std::int64_t at : dense_positions(pattern)) {
    nonzero.push_back(mask[static_cast<std::size_t>(at)]);
  }
  model.weights["conv.weight"] = CsrWeight{2048,
                                           4608,
                                           1,
                                           2048,
                                           pattern.row_length,
                                           pattern.column,
                                           pattern.kept,
                                           random_values(Encoding::codebook4, nonzero, random)};
  const std::vector<std::byte> bytes = serialize_model_file(model);

  const auto start = std::chrono::steady_clock::now();
  const DeployedModel restored = parse_model_file(bytes, "large");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(restored == model);
  CHECK(seconds.count() < 2.0);  // 0.04 s on an idle core; sanitizers and busy machines are slower
}

}  // namespace
}  // namespace winnow
