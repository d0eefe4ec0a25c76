#include "runtime/challenge/files/binary/images_file.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/challenge/files/binary/image_coding.h"
#include "runtime/challenge/files/binary/part_file_layout.h"
#include "tests/challenge/file_seal.h"
#include "tests/challenge/sample_data.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

constexpr std::size_t kFormAt = kPartHeaderBytes + 16;
constexpr std::size_t kOnesAt = kPartHeaderBytes + 24;
const std::size_t kFirstArray = aligned(kPartHeaderBytes + kPartEntryBytes);

FileBytes file_of(const SparseImages& images) {
  const TemporaryDirectory directory;
  write_images_file(directory / "i.wsi", images);
  return file_bytes(directory / "i.wsi");
}

std::uint32_t form_of(const FileBytes& file) {
  std::uint32_t form = 0;
  std::memcpy(&form, file.data() + kFormAt, sizeof(form));
  return form;
}

std::string message(const FileBytes& bytes) {
  const auto read = [&] { read_images_bytes(sealed(bytes), "i.wsi"); };
  CHECK(error_of(read) == ErrorCode::bad_file);
  return message_of(read);
}

}  // namespace

TEST_CASE("images come back from their file in the form that needs fewer bytes") {
  struct Case {
    std::uint32_t neurons;
    double chance;
    BlockForm form;
  };
  for (const Case& c : {Case{70, 0.5, BlockForm::bitmaps}, Case{1024, 0.1, BlockForm::bitmaps},
                        Case{1024, 0.02, BlockForm::short_lists}, Case{64, 1, BlockForm::bitmaps},
                        Case{65536, 0.001, BlockForm::short_lists},
                        Case{65537, 0.001, BlockForm::lists}, Case{1, 1, BlockForm::short_lists}}) {
    CAPTURE(c.neurons);
    CAPTURE(c.chance);
    const SparseImages images = random_images(c.neurons, 40, c.chance, 1);
    const FileBytes file = file_of(images);
    CHECK(read_images_bytes(file, "i.wsi") == images);
    CHECK(form_of(file) == static_cast<std::uint32_t>(c.form));
  }
}

TEST_CASE("images of several blocks come back, written at once or in parts") {
  const TemporaryDirectory directory;
  const SparseImages images = random_images(30, 2500, 0.3, 2);
  write_images_file(directory / "i.wsi", images);
  CHECK(read_images_file(directory / "i.wsi") == images);
  ImagesFileWriter writer(directory / "j.wsi", 30, 2500);
  writer.append(slice(images, 0, 2048));
  writer.append(slice(images, 2048, 2500));
  writer.commit();
  CHECK(file_bytes(directory / "j.wsi") == file_bytes(directory / "i.wsi"));
}

TEST_CASE("images that all are empty come back") {
  const SparseImages images = random_images(100, 5, 0, 1);
  CHECK(read_images_bytes(file_of(images), "i.wsi") == images);
}

TEST_CASE("images tables that lie are refused") {
  const FileBytes file = file_of(random_images(70, 7, 0.5, 1));
  CHECK(message(changed(file, 20, 0u)).find("images of 0 neurons") != std::string::npos);
  CHECK(message(changed(file, 20, 1u << 25)).find("7 images of 33554432 neurons") !=
        std::string::npos);
  CHECK(message(changed(file, 24, 0u)).find("found 0 images") != std::string::npos);
  CHECK(message(changed(file, 24, 1025u)).find("1025 images of 70 neurons in 1 blocks") !=
        std::string::npos);
  CHECK(message(changed(file, 24, 8u)) == "i.wsi: block 0: found 112 bytes, expected 128");
  CHECK(message(changed(file, kFormAt, 4u)) == "i.wsi: block 0: its form is not known");
  CHECK(message(changed(file, kOnesAt + 8, 1u)) == "i.wsi: block 0: its form is not known");
  CHECK(message(changed(file, kOnesAt, 491u)) ==
        "i.wsi: block 0: found 491 ones, more than its images have neurons");
  CHECK(message(changed(file, kOnesAt, 490u)).find("header: found") != std::string::npos);
  CHECK(message(changed(changed(file, kOnesAt, 490u), 40, std::uint64_t{490}))
            .find(" ones, expected 490") != std::string::npos);
}

TEST_CASE("bitmaps that lie are refused") {
  const FileBytes file = file_of(random_images(70, 7, 1, 1));  // the third and sixth are empty
  // One bit moves beyond the last neuron of image 0.
  const FileBytes bad =
      changed(changed(file, kFirstArray, std::byte{0xfe}), kFirstArray + 8, std::byte{0x7f});
  CHECK(message(bad) == "i.wsi: block 0: image 0 of it: a bit beyond its neurons is set");
  CHECK(message(changed(file, kFirstArray, std::byte{0})) ==
        "i.wsi: block 0: found 342 ones, expected 350");
}

TEST_CASE("lists that lie are refused") {
  const SparseImages images{.neurons = 900, .row_begin = {0, 2, 2, 5}, .neuron = {3, 899, 0, 1, 2}};
  const FileBytes file = file_of(images);
  REQUIRE(form_of(file) == static_cast<std::uint32_t>(BlockForm::short_lists));
  const std::size_t list = kFirstArray + 64;
  const std::string place = "i.wsi: block 0: ";
  CHECK(message(changed(file, kFirstArray, 6u)) ==
        place + "image 0 of it: found 6 ones, expected at most 5");
  CHECK(message(changed(file, kFirstArray + 4, 0xffffffffu)) ==
        place + "image 1 of it: found 4294967295 ones, expected at most 3");
  CHECK(message(changed(file, kFirstArray + 8, 2u)) ==
        place + "its images have 4 ones, expected 5");
  CHECK(message(changed(file, list + 2, std::uint16_t{900})) ==
        place + "image 0 of it: neuron 900 is out of order or not below 900");
  CHECK(message(changed(file, list + 6, std::uint16_t{0})) ==
        place + "image 2 of it: neuron 0 is out of order or not below 900");
  CHECK(message(changed(file, kFirstArray + 12, 1u)) ==
        place + "bytes between its arrays are not 0");
}

TEST_CASE("a writer refuses what are no images and leaves no file") {
  const TemporaryDirectory directory;
  const std::string path = directory / "i.wsi";
  const SparseImages images = random_images(30, 10, 0.3, 2);
  CHECK(error_of([&] { ImagesFileWriter(path, 30, 0); }) == ErrorCode::usage);
  CHECK(error_of([&] { ImagesFileWriter(path, 0, 3); }) == ErrorCode::usage);
  CHECK(error_of([&] { write_images_file(path, {}); }) == ErrorCode::usage);
  {
    ImagesFileWriter writer(path, 30, 2000);
    CHECK(error_of([&] { writer.append(random_images(31, 10, 0.3, 2)); }) == ErrorCode::usage);
    writer.append(images);
    CHECK(error_of([&] { writer.append(images); }) == ErrorCode::usage);
    CHECK(message_of([&] { writer.commit(); }) == path + ": 10 images were written, expected 2000");
  }
  {
    ImagesFileWriter writer(path, 30, 9);
    CHECK(error_of([&] { writer.append(images); }) == ErrorCode::usage);
  }
  CHECK(std::filesystem::is_empty(directory.path()));
}

}  // namespace winnow::challenge
