#include "runtime/images/image_reader.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/images/folder.h"
#include "runtime/images/selection.h"
#include "tests/images/encode.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr std::int64_t kPictures = 23;

// kPictures grey pictures in two classes; picture i is of 6 x 6 pixels i.
class PictureFolder {
 public:
  PictureFolder() {
    for (std::int64_t i = 0; i < kPictures; ++i) write_bytes(path(i), png_of(i));
  }

  std::string path(std::int64_t i) const {
    const std::string name = i < 10 ? "a/1" : "b/1";
    return directory_ / ("train/" + name + static_cast<char>('a' + i) + ".png");
  }

  ImageSet read(std::uint64_t most_bytes) const {
    return read_folder(list_folder(directory_.path(), Split::train),
                       {.size = 5, .channels = 1, .most_bytes = most_bytes});
  }

 private:
  static Bytes png_of(std::int64_t value) {
    return png_bytes({6, 6, 1, Bytes(36, static_cast<std::uint8_t>(value))});
  }

  TemporaryDirectory directory_;
};

// The sizes of the batches and the first byte of each image.
struct Seen {
  std::vector<std::size_t> batches;
  Bytes images;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen_by(ImageReader& reader) {
  Seen seen;
  for (auto bytes = reader.next(); !bytes.empty(); bytes = reader.next()) {
    seen.batches.push_back(bytes.size() / 25);
    for (std::size_t i = 0; i < bytes.size(); i += 25) seen.images.push_back(bytes[i]);
  }
  return seen;
}

TEST_CASE("files give the images that memory gives, in any order, by any number of threads") {
  const PictureFolder folder;
  const ImageSet in_memory = folder.read(1 << 20), in_files = folder.read(1);
  REQUIRE(in_memory.is_in_memory());
  REQUIRE(!in_files.is_in_memory());
  const std::vector<std::int64_t> order = {22, 3, 3, 0, 17, 9, 4, 21, 1, 2, 5, 6, 7, 8, 10, 3};
  for (const std::int64_t batch : {1, 3, 7, 16, 50}) {
    ImageReader expected(in_memory, order, batch);
    const Seen wanted = seen_by(expected);
    CHECK(wanted.images == Bytes(order.begin(), order.end()));
    for (const int threads : {1, 2, 5, 40}) {
      ImageReader reader(in_files, order, batch, threads);
      CHECK(seen_by(reader) == wanted);
      CHECK(reader.next().empty());
    }
  }
}

TEST_CASE("no more than a few batches are read ahead") {
  const PictureFolder folder;
  const ImageSet set = folder.read(1);
  ImageReader reader(set, 2);
  CHECK(reader.next().size() == 2 * 25);
  // Of batches beyond those ahead no file has been opened, so one that is gone is missed later
  // only.
  std::filesystem::remove(folder.path(2 * (ImageReader::kBatchesAhead + 2)));
  for (std::int64_t i = 0; i <= ImageReader::kBatchesAhead; ++i) {
    CHECK(reader.next().size() == 2 * 25);
  }
  CHECK(error_of([&] { reader.next(); }) == ErrorCode::bad_file);
}

TEST_CASE("the first damaged picture of a batch is named when that batch is asked for") {
  const PictureFolder folder;
  const ImageSet set = folder.read(1);
  for (const std::int64_t i : {9, 11, 13}) write_text(folder.path(i), "damaged");
  for (int round = 0; round < 20; ++round) {
    ImageReader reader(set, 8);
    CHECK(reader.next().size() == 8 * 25);
    const std::string message = message_of([&] { reader.next(); });
    REQUIRE(message.starts_with(folder.path(9) + ": expected a PNG or a JPEG picture"));
  }
}

TEST_CASE("a reader that is left in the middle ends its threads") {
  const PictureFolder folder;
  const ImageSet set = folder.read(1);
  for (int round = 0; round < 50; ++round) {
    ImageReader reader(set, 2);
    for (int i = 0; i < round % 4; ++i) reader.next();
  }
}

TEST_CASE("a set in files is thinned like one in memory") {
  const PictureFolder folder;
  ImageSet in_memory = folder.read(1 << 20), in_files = folder.read(1);
  thin_out(in_memory, 7);
  thin_out(in_files, 7);
  CHECK(in_files.count == 7);
  CHECK(in_files.labels == in_memory.labels);
  ImageReader a(in_memory, 4), b(in_files, 4);
  CHECK(seen_by(a) == seen_by(b));
}

}  // namespace
}  // namespace winnow
