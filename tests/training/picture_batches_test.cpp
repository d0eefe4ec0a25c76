// Batches of pictures that are too many for memory.

#include <filesystem>

#include "prune/training/steps/batches.h"
#include "runtime/images/folder.h"
#include "tests/images/encode.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

class PictureFolder {
 public:
  PictureFolder() {
    for (int i = 0; i < 22; ++i) {
      Picture picture = smooth_picture(7, 9, 3);
      for (std::uint8_t& byte : picture.pixels) byte = static_cast<std::uint8_t>(byte / 2 + 5 * i);
      write_bytes(path(i), png_bytes(picture));
    }
  }

  std::string path(int i) const {
    return directory_ / ("train/" + std::to_string(i % 2) + "/" + std::to_string(10 + i) + ".png");
  }

  ResidentImages images(std::uint64_t most_bytes) const {
    FolderOptions options;
    options.form.resize = {6, 0};
    options.form.crop = {5, 5};
    options.most_bytes = most_bytes;
    const ImageSet set = read_folder(list_folder(directory_.path(), Split::train), options);
    REQUIRE(set.is_in_memory() == (most_bytes > 1));
    return {set, {}, torch::kCPU};
  }

 private:
  TemporaryDirectory directory_;
};

void check_equal(const Batch& a, const Batch& b) {
  REQUIRE(torch::equal(a.input, b.input));
  REQUIRE(torch::equal(a.target, b.target));
}

TEST_CASE("training batches from files have the bits of those from memory") {
  const PictureFolder folder;
  BatchOptions options;
  options.batch_size = 4;
  options.augment.crop_padding = 1;
  options.augment.flip = true;
  TrainingBatches in_memory(folder.images(1 << 20), options), in_files(folder.images(1), options);
  for (int i = 0; i < 14; ++i) check_equal(in_memory.next(), in_files.next());
  for (const BatchPosition position : {BatchPosition{5, 8}, BatchPosition{0, 0}}) {
    in_memory.seek(position);
    in_files.seek(position);
    for (int i = 0; i < 7; ++i) check_equal(in_memory.next(), in_files.next());
  }
}

TEST_CASE("evaluation batches from files have the bits of those from memory, in any order") {
  const PictureFolder folder;
  const EvaluationBatches in_memory(folder.images(1 << 20), 5), in_files(folder.images(1), 5);
  REQUIRE(in_files.count() == 5);
  for (const std::int64_t i : {0, 1, 2, 3, 4, 0, 1, 4, 2}) {
    check_equal(in_memory.at(i), in_files.at(i));
  }
}

TEST_CASE("a picture that is damaged while a network trains is named") {
  const PictureFolder folder;
  const ResidentImages images = folder.images(1);
  write_text(folder.path(7), "damaged");
  BatchOptions options;
  options.batch_size = 22;
  TrainingBatches batches(images, options);
  CHECK(message_of([&] {
          batches.next();
        }).starts_with(folder.path(7) + ": expected a PNG or a JPEG picture"));
}

}  // namespace
}  // namespace winnow
