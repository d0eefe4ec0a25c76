#include <doctest/doctest.h>

#include "runtime/images/idx.h"
#include "runtime/images/image_set.h"
#include "tests/images/encode.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const Bytes kImages = idx_bytes({2, 2, 3}, {1, 2, 3, 4, 5, 6, 250, 251, 252, 253, 254, 255});
const Bytes kLabels = idx_bytes({2}, {4, 0});

void write_train(const TemporaryDirectory& directory, const Bytes& images, const Bytes& labels) {
  write_bytes(directory / "train-images-idx3-ubyte", images);
  write_bytes(directory / "train-labels-idx1-ubyte", labels);
}

ImageSet read_train(const TemporaryDirectory& directory) {
  return read_image_set(ImageFormat::idx, directory.path(), Split::train);
}

TEST_CASE("IDX images and labels are read as they lie in the files") {
  const TemporaryDirectory directory;
  write_train(directory, kImages, kLabels);
  const ImageSet set = read_train(directory);

  CHECK(set.count == 2);
  CHECK(set.channels == 1);
  CHECK(set.height == 2);
  CHECK(set.width == 3);
  CHECK(set.pixels == Bytes{1, 2, 3, 4, 5, 6, 250, 251, 252, 253, 254, 255});
  CHECK(set.labels == std::vector<std::int32_t>{4, 0});
  CHECK(set.classes == std::vector<std::string>{"0", "1", "2", "3", "4"});
}

TEST_CASE("IDX files packed with gzip are told by their content") {
  const TemporaryDirectory directory;
  write_bytes(directory / "train-images.idx3-ubyte.gz", gzip_bytes(kImages));
  write_bytes(directory / "train-labels-idx1-ubyte", gzip_bytes(kLabels));  // no .gz
  CHECK(read_train(directory).pixels == Bytes(kImages.begin() + 16, kImages.end()));
}

TEST_CASE("IDX test files are those called t10k") {
  const TemporaryDirectory directory;
  write_bytes(directory / "t10k-images-idx3-ubyte.gz", kImages);  // plain in spite of its name
  write_bytes(directory / "t10k-labels-idx1-ubyte.gz", kLabels);
  CHECK(read_image_set(ImageFormat::idx, directory.path(), Split::test).count == 2);
  CHECK(error_of([&] { read_train(directory); }) == ErrorCode::bad_file);
  CHECK(message_of([&] { read_train(directory); }) ==
        directory.path() + ": no file train-images-idx3-ubyte, plain or with .gz");
}

TEST_CASE("IDX files cut at any length are refused, packed or not") {
  const TemporaryDirectory directory;
  for (const bool packed : {false, true}) {
    const Bytes images = packed ? gzip_bytes(kImages) : kImages;
    const Bytes labels = packed ? gzip_bytes(kLabels) : kLabels;
    for (std::size_t size = 0; size < images.size(); ++size) {
      CAPTURE(size);
      write_train(directory, Bytes(images.begin(), images.begin() + std::ptrdiff_t(size)), labels);
      REQUIRE(error_of([&] { read_train(directory); }) == ErrorCode::bad_file);
    }
    for (std::size_t size = 0; size < labels.size(); ++size) {
      CAPTURE(size);
      write_train(directory, images, Bytes(labels.begin(), labels.begin() + std::ptrdiff_t(size)));
      REQUIRE(error_of([&] { read_train(directory); }) == ErrorCode::bad_file);
    }
    write_train(directory, images, labels);
    CHECK(read_train(directory).count == 2);
  }
}

TEST_CASE("IDX files with a flipped bit in the packed data are refused or read the same") {
  const TemporaryDirectory directory;
  const Bytes packed = gzip_bytes(kImages);
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    Bytes damaged = packed;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    write_train(directory, damaged, kLabels);
    ImageSet set;
    const auto code = error_of([&] { set = read_train(directory); });
    CAPTURE(bit);
    if (code) {
      REQUIRE(code == ErrorCode::bad_file);
      ++refused;
    } else {  // time and system of the gzip header do not count
      REQUIRE(set.pixels == Bytes(kImages.begin() + 16, kImages.end()));
    }
  }
  CHECK(refused > static_cast<int>(8 * (packed.size() - 10)));
}

TEST_CASE("IDX files that are too long are refused, packed or not") {
  const TemporaryDirectory directory;
  Bytes longer = kImages;
  longer.push_back(0);
  write_train(directory, longer, kLabels);
  CHECK(message_of([&] { read_train(directory); }) ==
        directory / "train-images-idx3-ubyte" + ": found at least 29 bytes, expected 28");
  write_train(directory, gzip_bytes(longer), kLabels);
  CHECK(error_of([&] { read_train(directory); }) == ErrorCode::bad_file);
  Bytes trailing = gzip_bytes(kImages);
  trailing.push_back(0);
  write_train(directory, trailing, kLabels);
  CHECK(error_of([&] { read_train(directory); }) == ErrorCode::bad_file);
}

TEST_CASE("gzip members that follow one another are one file") {
  const TemporaryDirectory directory;
  Bytes packed = gzip_bytes(Bytes(kImages.begin(), kImages.begin() + 20));
  const Bytes second = gzip_bytes(Bytes(kImages.begin() + 20, kImages.end()));
  packed.insert(packed.end(), second.begin(), second.end());
  write_train(directory, packed, kLabels);
  CHECK(read_train(directory).pixels == Bytes(kImages.begin() + 16, kImages.end()));
}

TEST_CASE("IDX headers that promise what cannot be are refused before memory is taken") {
  const TemporaryDirectory directory;
  const auto refuses = [&](const Bytes& images, const Bytes& labels) {
    write_train(directory, images, labels);
    return error_of([&] { read_train(directory); }) == ErrorCode::bad_file;
  };
  constexpr std::uint32_t kHuge = 0xffffffff;
  for (const bool packed : {false, true}) {
    const auto wrap = [&](const Bytes& bytes) { return packed ? gzip_bytes(bytes) : bytes; };
    CHECK(refuses(wrap(idx_bytes({kHuge, kHuge, kHuge}, {1})), kLabels));
    CHECK(refuses(wrap(idx_bytes({kHuge, 8192, 8192}, {1})), kLabels));
    CHECK(refuses(wrap(idx_bytes({0, 2, 3}, {})), kLabels));
    CHECK(refuses(kImages, wrap(idx_bytes({kHuge}, {1}))));
  }
  CHECK(refuses(idx_bytes({2, 2}, {1, 2, 3, 4}), kLabels));  // another rank
  CHECK(refuses(kImages, idx_bytes({3}, {1, 1, 1})));        // a label too many
  CHECK(refuses(kLabels, kImages));
  CHECK(message_of([&] { read_train(directory); }) ==
        directory / "train-images-idx3-ubyte" + ": found 10 bytes, expected a header of 16");
}

TEST_CASE("IDX images are read alone by their path") {
  const TemporaryDirectory directory;
  write_bytes(directory / "digits.gz", gzip_bytes(kImages));
  const ImageSet set = read_idx_images(directory / "digits.gz");
  CHECK(set.count == 2);
  CHECK(set.height == 2);
  CHECK(set.width == 3);
  CHECK(set.pixels == Bytes(kImages.begin() + 16, kImages.end()));
  CHECK(set.labels.empty());
  write_bytes(directory / "labels", kLabels);
  CHECK(message_of([&] { read_idx_images(directory / "labels"); }) ==
        directory / "labels" + ": found 10 bytes, expected a header of 16");
}

TEST_CASE("IDX names the magic number that it found") {
  const TemporaryDirectory directory;
  Bytes images = kImages;
  images[2] = 0x0d;  // floats
  write_train(directory, images, kLabels);
  CHECK(message_of([&] { read_train(directory); }) ==
        directory / "train-images-idx3-ubyte" + ": byte 0: found 0x00000d03, expected 0x00000803");
}

TEST_CASE("IDX takes class names from classes.txt, which must cover all labels") {
  const TemporaryDirectory directory;
  write_train(directory, kImages, kLabels);
  write_text(directory / "classes.txt", "a\nb\nc\nd\ne\nf\n");
  CHECK(read_train(directory).classes.size() == 6);
  write_text(directory / "classes.txt", "a\nb\nc\nd\n");
  CHECK(error_of([&] { read_train(directory); }) == ErrorCode::bad_file);
  CHECK(message_of([&] { read_train(directory); }).find("item 0: found label 4") !=
        std::string::npos);
}

TEST_CASE("Fashion-MNIST as Debian installs it has 60000 and 10000 images of ten classes") {
  const std::string directory = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(directory)) {
    MESSAGE("skipped: ", directory, " is not there");
    return;
  }
  const ImageSet train = read_image_set(ImageFormat::idx, directory, Split::train);
  const ImageSet test = read_image_set(ImageFormat::idx, directory, Split::test);
  CHECK(train.count == 60000);
  CHECK(test.count == 10000);
  CHECK(train.height == 28);
  CHECK(train.width == 28);
  CHECK(train.classes.size() == 10);
  std::vector<int> hits(10);
  for (std::int32_t label : train.labels) ++hits[static_cast<std::size_t>(label)];
  for (int count : hits) CHECK(count == 6000);
  CHECK(train.labels[0] == 9);  // github.com/zalandoresearch/fashion-mnist shows an ankle boot
}

}  // namespace
}  // namespace winnow
