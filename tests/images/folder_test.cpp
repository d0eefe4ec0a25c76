#include "runtime/images/folder.h"

#include <doctest/doctest.h>

#include "runtime/images/picture.h"
#include "tests/images/encode.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

Bytes flat_png(std::int64_t height, std::int64_t width, std::uint8_t value) {
  return png_bytes({height, width, 1, Bytes(static_cast<std::size_t>(height * width), value)});
}

TEST_CASE("a folder is read class by class in alphabetical order") {
  const TemporaryDirectory directory;
  write_bytes(directory / "train/dog/b.png", flat_png(4, 4, 20));
  write_bytes(directory / "train/dog/a.PNG", flat_png(4, 4, 10));
  write_bytes(directory / "train/cat/deep/er/z.png", flat_png(4, 4, 30));
  write_bytes(directory / "train/cat/.hidden.png", flat_png(4, 4, 99));
  write_text(directory / "train/cat/notes.txt", "not a picture");
  write_text(directory / "train/readme", "not a class");
  const ImageSet set = read_image_set(ImageFormat::folder, directory.path(), Split::train,
                                      {.size = 0, .channels = 1});
  CHECK(set.classes == std::vector<std::string>{"cat", "dog"});
  CHECK(set.labels == std::vector<std::int32_t>{0, 1, 1});
  CHECK(set.count == 3);
  CHECK(set.channels == 1);
  CHECK(set.height == 4);
  REQUIRE(set.pixels.size() == 3 * 16);
  CHECK(set.pixels[0] == 30);
  CHECK(set.pixels[16] == 10);
  CHECK(set.pixels[32] == 20);
}

TEST_CASE("a folder's test split may be called test, val or validation") {
  for (const std::string name : {"test", "val", "validation"}) {
    const TemporaryDirectory directory;
    write_bytes(directory / (name + "/one/a.png"), flat_png(2, 2, 1));
    CHECK(read_image_set(ImageFormat::folder, directory.path(), Split::test).count == 1);
    const auto read = [&] { list_folder(directory.path(), Split::train); };
    CHECK(error_of(read) == ErrorCode::bad_file);
    CHECK(message_of(read) == directory.path() + ": no folder train");
  }
}

TEST_CASE("a folder's pictures are brought to one size and to the channels asked for") {
  const TemporaryDirectory directory;
  write_bytes(directory / "train/a/1.png", flat_png(10, 30, 100));
  write_bytes(directory / "train/a/2.jpg", jpeg_bytes(smooth_picture(17, 8, 3)));
  const ImageSet set = read_image_set(ImageFormat::folder, directory.path(), Split::train,
                                      {.size = 6, .channels = 3});
  CHECK(set.height == 6);
  CHECK(set.width == 6);
  CHECK(Bytes(set.pixels.begin(), set.pixels.begin() + 108) == Bytes(108, 100));
  CHECK(Bytes(set.pixels.begin() + 108, set.pixels.end()) ==
        read_picture(directory / "train/a/2.jpg", 3, 6, 6));
}

TEST_CASE("a folder of unequal pictures needs a size") {
  const TemporaryDirectory directory;
  write_bytes(directory / "train/a/1.png", flat_png(4, 4, 1));
  write_bytes(directory / "train/a/2.png", flat_png(4, 5, 1));
  const auto read = [&] { read_image_set(ImageFormat::folder, directory.path(), Split::train); };
  CHECK(error_of(read) == ErrorCode::bad_file);
  CHECK(message_of(read).find("2.png: found 4 x 5 pixels, expected 4 x 4") != std::string::npos);
}

TEST_CASE("of several damaged pictures the first is named, every time") {
  const TemporaryDirectory directory;
  for (int i = 10; i < 60; ++i) {
    write_bytes(directory / ("train/a/" + std::to_string(i) + ".png"), flat_png(4, 4, 1));
  }
  for (int i : {33, 34, 35, 36, 50}) {
    write_text(directory / ("train/a/" + std::to_string(i) + ".png"), "damaged");
  }
  for (int round = 0; round < 20; ++round) {
    const auto read = [&] { read_image_set(ImageFormat::folder, directory.path(), Split::train); };
    REQUIRE(message_of(read).find("33.png") != std::string::npos);
  }
}

TEST_CASE("a folder without classes, or a class without pictures, is refused") {
  const TemporaryDirectory directory;
  const auto list = [&] { list_folder(directory.path(), Split::train); };
  write_bytes(directory / "train/stray.png", flat_png(4, 4, 1));
  CHECK(error_of(list) == ErrorCode::bad_file);
  CHECK(message_of(list) == directory / "train" + ": no class folders");
  write_bytes(directory / "train/full/1.png", flat_png(4, 4, 1));
  write_text(directory / "train/void/1.txt", "");
  CHECK(error_of(list) == ErrorCode::bad_file);
  CHECK(message_of(list).find("train/void: no pictures") != std::string::npos);
  write_text(directory / "train/void/1.WebP", "");
  CHECK(error_of(list) == ErrorCode::bad_file);
  CHECK(message_of(list) == directory / "train/void/1.WebP" +
                                ": expected pictures of the kinds *.jpg, *.jpeg and *.png only");
}

TEST_CASE("a folder is resized and cropped as its form says, and a picture too small is named") {
  const TemporaryDirectory directory;
  write_bytes(directory / "train/a/1.png", flat_png(10, 30, 100));
  write_bytes(directory / "train/a/2.png", flat_png(40, 20, 50));
  const auto read = [&](const PictureForm& form) {
    return read_image_set(ImageFormat::folder, directory.path(), Split::train,
                          {.size = 0, .channels = 1, .form = form});
  };
  const ImageSet set = read({.resize = {8, 0}, .crop = {6, 4}});
  CHECK(set.height == 6);
  CHECK(set.width == 4);
  CHECK(Bytes(set.pixels.begin(), set.pixels.begin() + 24) == Bytes(24, 100));
  CHECK(Bytes(set.pixels.begin() + 24, set.pixels.end()) == Bytes(24, 50));
  CHECK(read({.resize = {5, 7}}).width == 7);

  CHECK(message_of([&] {
          read({.resize = {8, 0}});
        }) == directory / "train/a/2.png" +
                  ": found 16 x 8 pixels, expected 8 x 24; give a size, or "
                  "resize and crop, to bring pictures to");
  CHECK(message_of([&] {
          read({.crop = {10, 25}});
        }) == directory / "train/a/2.png" +
                  ": found a picture of 40 x 20 pixels, which is smaller than "
                  "the crop of 10 x 25");
  CHECK(error_of([&] { read({.resize = {4, 0}, .crop = {5, 4}}); }) == ErrorCode::usage);
}

TEST_CASE("read_folder refuses options out of range") {
  const TemporaryDirectory directory;
  write_bytes(directory / "train/a/1.png", flat_png(4, 4, 1));
  const auto refusal = [&](std::int64_t size, std::int64_t channels) {
    return error_of([&] {
      read_image_set(ImageFormat::folder, directory.path(), Split::train,
                     {.size = size, .channels = channels});
    });
  };
  CHECK(refusal(-1, 3) == ErrorCode::usage);
  CHECK(refusal(8193, 3) == ErrorCode::usage);
  CHECK(refusal(4, 2) == ErrorCode::usage);
}

TEST_CASE("pictures that together exceed the limit stay in their files") {
  const TemporaryDirectory directory;
  write_bytes(directory / "train/a/1.png", flat_png(4, 4, 1));
  FolderListing listing = list_folder(directory.path(), Split::train);
  CHECK(read_folder(listing, {.size = 4, .channels = 1, .most_bytes = 16}).is_in_memory());
  CHECK(!read_folder(listing, {.size = 4, .channels = 1, .most_bytes = 15}).is_in_memory());

  listing.paths.resize(1'000'000, listing.paths[0]);
  listing.labels.resize(1'000'000);
  const ImageSet many = read_folder(listing, {.size = 8192, .channels = 3});
  CHECK(many.count == 1'000'000);
  CHECK(many.files == listing.paths);
  CHECK(many.pixels.empty());
  CHECK(many.height == 8192);
}

}  // namespace
}  // namespace winnow
