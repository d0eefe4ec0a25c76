#include <doctest/doctest.h>

#include "runtime/images/image_set.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr std::size_t kRecordBytes = 3073;

// Five training files of two records and a test file of one.
void write_cifar10(const TemporaryDirectory& directory) {
  for (std::uint8_t file = 0; file < 5; ++file) {
    Bytes bytes;
    append_cifar_record(bytes, {file}, file);
    append_cifar_record(bytes, {9}, static_cast<std::uint8_t>(100 + file));
    write_bytes(directory / ("data_batch_" + std::to_string(file + 1) + ".bin"), bytes);
  }
  Bytes bytes;
  append_cifar_record(bytes, {3}, 7);
  write_bytes(directory / "test_batch.bin", bytes);
}

TEST_CASE("CIFAR-10 is read in the order of its files, channel by channel") {
  const TemporaryDirectory directory;
  write_cifar10(directory);
  const ImageSet train = read_image_set(ImageFormat::cifar10, directory.path(), Split::train);

  CHECK(train.count == 10);
  CHECK(train.channels == 3);
  CHECK(train.height == 32);
  CHECK(train.width == 32);
  CHECK(train.labels == std::vector<std::int32_t>{0, 9, 1, 9, 2, 9, 3, 9, 4, 9});
  REQUIRE(train.pixels.size() == 10 * 3072);
  CHECK(train.pixels[0] == 0);
  CHECK(train.pixels[3072 + 5] == 105);       // second record of the first file
  CHECK(train.pixels[2 * 3072 + 1025] == 2);  // second file: 1 + 1025 mod 256
  CHECK(train.classes.size() == 10);
  CHECK(train.classes[9] == "9");

  const ImageSet test = read_image_set(ImageFormat::cifar10, directory.path(), Split::test);
  CHECK(test.count == 1);
  CHECK(test.labels == std::vector<std::int32_t>{3});
}

TEST_CASE("CIFAR-10 takes class names from batches.meta.txt, which must have ten") {
  const TemporaryDirectory directory;
  write_cifar10(directory);
  write_text(directory / "batches.meta.txt",
             "airplane\nautomobile\r\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  const ImageSet test = read_image_set(ImageFormat::cifar10, directory.path(), Split::test);
  CHECK(test.classes[1] == "automobile");
  CHECK(test.classes[9] == "truck");

  write_text(directory / "batches.meta.txt", "airplane\nautomobile\n");
  const auto read = [&] { read_image_set(ImageFormat::cifar10, directory.path(), Split::test); };
  CHECK(error_of(read) == ErrorCode::bad_file);
  CHECK(message_of(read) == directory / "batches.meta.txt" + ": found 2 class names, expected 10");
}

TEST_CASE("CIFAR-10 refuses a training file cut at any length") {
  const TemporaryDirectory directory;
  write_cifar10(directory);
  Bytes bytes;
  append_cifar_record(bytes, {1}, 0);
  append_cifar_record(bytes, {1}, 0);
  const auto read = [&] { read_image_set(ImageFormat::cifar10, directory.path(), Split::train); };
  for (std::size_t size = bytes.size(); size-- > 0;) {
    bytes.resize(size);
    if (size % 7 != 0 && size % kRecordBytes > 2 && size % kRecordBytes < kRecordBytes - 2)
      continue;
    write_bytes(directory / "data_batch_3.bin", bytes);
    CAPTURE(size);
    REQUIRE(error_of(read) == ErrorCode::bad_file);
  }
}

TEST_CASE("CIFAR-10 names file, record and bytes of what does not fit") {
  const TemporaryDirectory directory;
  write_cifar10(directory);
  const auto read = [&] { read_image_set(ImageFormat::cifar10, directory.path(), Split::test); };

  Bytes bytes;
  append_cifar_record(bytes, {0}, 0);
  append_cifar_record(bytes, {10}, 0);
  write_bytes(directory / "test_batch.bin", bytes);
  CHECK(message_of(read) ==
        directory / "test_batch.bin" + ": record 1: found label 10, expected less than 10");

  bytes.pop_back();
  write_bytes(directory / "test_batch.bin", bytes);
  CHECK(message_of(read) ==
        directory / "test_batch.bin" + ": found 6145 bytes, expected a multiple of 3073");

  std::filesystem::remove(directory / "test_batch.bin");
  CHECK(error_of(read) == ErrorCode::bad_file);
  CHECK(message_of(read).find("test_batch.bin") != std::string::npos);
}

TEST_CASE("CIFAR-100 takes the fine label and checks both") {
  const TemporaryDirectory directory;
  const auto read = [&] {
    return read_image_set(ImageFormat::cifar100, directory.path(), Split::train);
  };
  const auto write_record = [&](std::uint8_t coarse, std::uint8_t fine) {
    Bytes bytes;
    append_cifar_record(bytes, {coarse, fine}, 50);
    write_bytes(directory / "train.bin", bytes);
  };

  write_record(19, 99);
  const ImageSet train = read();
  CHECK(train.count == 1);
  CHECK(train.labels == std::vector<std::int32_t>{99});
  CHECK(train.pixels[0] == 50);
  CHECK(train.classes.size() == 100);

  write_record(20, 0);
  CHECK(error_of(read) == ErrorCode::bad_file);
  CHECK(message_of(read).find("found label 20, expected less than 20") != std::string::npos);
  write_record(0, 100);
  CHECK(error_of(read) == ErrorCode::bad_file);
}

TEST_CASE("image_format_from knows the formats and suggests near names") {
  CHECK(image_format_from("cifar10") == ImageFormat::cifar10);
  CHECK(image_format_from("cifar100") == ImageFormat::cifar100);
  CHECK(image_format_from("idx") == ImageFormat::idx);
  CHECK(image_format_from("folder") == ImageFormat::folder);
  const auto misspelt = [] { image_format_from("floder"); };
  CHECK(error_of(misspelt) == ErrorCode::usage);
  CHECK(message_of(misspelt).find("folder") != std::string::npos);
}

}  // namespace
}  // namespace winnow
