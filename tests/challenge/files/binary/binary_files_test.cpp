// What holds for network and images files alike: damage is found, whatever it is.
#include <doctest/doctest.h>

#include <functional>

#include "runtime/base/file.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "runtime/challenge/files/binary/part_file_layout.h"
#include "tests/challenge/file_seal.h"
#include "tests/challenge/sample_data.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

struct Sample {
  FileBytes bytes;
  std::function<void(const FileBytes&)> read;  // all of it
};

void read_network(const FileBytes& bytes) {
  const auto network = open_network_bytes(bytes, "x.wsn");
  for (std::uint32_t l = 0; l < network->layers(); ++l) network->layer(l);
}

Sample small_network() {
  const TemporaryDirectory directory;
  NetworkFileWriter writer(directory / "x.wsn", 5, 3);
  writer.append(random_layer(5, 4, 1));
  writer.append(regular_layer(4, 6, 2, 2));
  writer.append(random_layer(6, 3, 3));
  writer.commit();
  return {file_bytes(directory / "x.wsn"), read_network};
}

Sample small_images(double chance, std::uint32_t neurons) {
  const TemporaryDirectory directory;
  write_images_file(directory / "x.wsi", random_images(neurons, 7, chance, 4));
  return {file_bytes(directory / "x.wsi"),
          [](const FileBytes& bytes) { read_images_bytes(bytes, "x.wsi"); }};
}

// Bitmaps, short lists, long lists.
std::vector<Sample> samples() {
  return {small_network(), small_images(0.5, 70), small_images(0.02, 300),
          small_images(1e-4, 65537)};
}

std::string message(const Sample& sample, const FileBytes& bytes) {
  CHECK(error_of([&] { sample.read(bytes); }) == ErrorCode::bad_file);
  return message_of([&] { sample.read(bytes); });
}

}  // namespace

TEST_CASE("binary files cut anywhere are refused") {
  for (const Sample& sample : samples()) {
    CHECK_NOTHROW(sample.read(sample.bytes));
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      CAPTURE(size);
      const FileBytes cut(sample.bytes.begin(),
                          sample.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      REQUIRE(error_of([&] { sample.read(cut); }) == ErrorCode::bad_file);
    }
  }
}

TEST_CASE("binary files with any bit flipped are refused") {
  for (const Sample& sample : samples()) {
    FileBytes damaged = sample.bytes;
    for (std::size_t bit = 0; bit < 8 * damaged.size(); ++bit) {
      CAPTURE(bit);
      const auto mask = static_cast<std::byte>(1 << bit % 8);
      damaged[bit / 8] ^= mask;
      REQUIRE(error_of([&] { sample.read(damaged); }) == ErrorCode::bad_file);
      damaged[bit / 8] ^= mask;
    }
  }
}

TEST_CASE("binary files with anything behind them are refused") {
  for (const Sample& sample : samples()) {
    FileBytes longer = sample.bytes;
    for (int i = 0; i < 70; ++i) {
      longer.push_back(std::byte{0});
      REQUIRE(error_of([&] { sample.read(longer); }) == ErrorCode::bad_file);
    }
    const std::uint64_t size = longer.size();
    CHECK(message(sample, sealed(changed(longer, 32, size))).find("follow the last part") !=
          std::string::npos);
  }
}

TEST_CASE("headers that lie are refused with their place") {
  const Sample sample = small_network();
  const FileBytes& file = sample.bytes;
  const std::string size = std::to_string(file.size());
  CHECK(message(sample, FileBytes(20)) ==
        "x.wsn: found 20 bytes, too few for a Winnow network file");
  CHECK(message(sample, FileBytes(100)) ==
        "x.wsn: byte 0: found other bytes, expected a Winnow network file");
  CHECK(message(sample, changed(file, 4, '\n')).find("changed by a transfer as text") !=
        std::string::npos);
  CHECK(message(sample, changed(file, 12, std::uint32_t{0x04030201})) ==
        "x.wsn: byte 12: the byte order tag is wrong");
  CHECK(message(sample, changed(file, 8, std::uint16_t{2})) ==
        "x.wsn: byte 8: found format version 2.0, expected 1.x");
  CHECK(message(sample, changed(file, 32, std::uint64_t{1} << 40)) ==
        "x.wsn: found " + size + " bytes, expected 1099511627776 (byte 32)");
  CHECK(message(sample, changed(file, 28, std::uint32_t{0xffffffff}))
            .find("found 4294967295 parts") != std::string::npos);
  CHECK(message(sample, changed(file, 28, std::uint32_t{0})).find("found 0 parts") !=
        std::string::npos);
  CHECK(message(sample, changed(file, 20, std::uint32_t{6})) ==
        "x.wsn: header: the checksum does not match");
  CHECK(message(sample, sealed(changed(file, 16, std::uint32_t{1}))) ==
        "x.wsn: byte 16: the file needs features 0x1 that this program does not know");
  CHECK(message(sample, sealed(changed(file, 48, std::uint32_t{1}))) ==
        "x.wsn: header: reserved bytes are not 0");
  CHECK(message(sample, sealed(changed(file, 24, std::uint32_t{2}))) ==
        "x.wsn: header: found 2 layers in 3 parts, expected equally many, at most 1048576");
  CHECK(message(sample, sealed(changed(file, 40, std::uint64_t{1}))).find("found 1 connections") !=
        std::string::npos);
  CHECK_NOTHROW(sample.read(sealed(changed(file, 10, std::uint16_t{7}))));  // a minor version
}

TEST_CASE("a network file is no images file") {
  const Sample network = small_network(), images = small_images(0.5, 70);
  CHECK(message(network, images.bytes) ==
        "x.wsn: byte 0: found other bytes, expected a Winnow network file");
  CHECK(message(images, network.bytes) ==
        "x.wsi: byte 0: found other bytes, expected a Winnow images file");
}

TEST_CASE("parts that overlap, leave gaps or reach beyond the file are refused") {
  for (const Sample& sample : samples()) {
    std::uint64_t offset = 0;
    std::memcpy(&offset, sample.bytes.data() + kPartHeaderBytes, sizeof(offset));
    for (const std::uint64_t place : {offset - 64, offset + 64, offset + 1, ~std::uint64_t{63}}) {
      CHECK(message(sample, sealed(changed(sample.bytes, kPartHeaderBytes, place)))
                .find("expected them at") != std::string::npos);
    }
    for (const std::uint64_t bytes : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      CHECK(message(sample, sealed(changed(sample.bytes, kPartHeaderBytes + 8, bytes)))
                .find("expected them at") != std::string::npos);
    }
  }
}

// A reader either refuses a file or gives data that passes its own checks.
TEST_CASE("randomly damaged files with right checksums are refused or give sound data") {
  constexpr int kRounds = 4000;
  for (const Sample& sample : samples()) {
    int accepted = 0;
    for (int round = 0; round < kRounds; ++round) {
      CAPTURE(round);
      Random random(static_cast<std::uint64_t>(round));
      const FileBytes bytes = mutated(sample.bytes, random);
      if (const auto code = error_of([&] { sample.read(bytes); })) {
        REQUIRE(*code == ErrorCode::bad_file);
      } else {
        ++accepted;
      }
    }
    CHECK(accepted > 0);  // a changed weight or pixel is no damage
    CHECK(accepted < kRounds / 2);
  }
}

}  // namespace winnow::challenge
