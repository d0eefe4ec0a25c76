#include "prune/data/folder_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "prune/data/data_set.h"
#include "prune/data/partition.h"
#include "runtime/images/image_reader.h"
#include "tests/images/encode.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

Bytes flat_png(std::uint8_t value) {
  return png_bytes({3, 3, 1, Bytes(9, value)});
}

void write_folder(const TemporaryDirectory& directory) {
  for (const std::string split : {"train", "test"}) {
    write_bytes(directory / (split + "/a/1.png"), flat_png(10));
    write_bytes(directory / (split + "/b/2.png"), flat_png(20));
    write_bytes(directory / (split + "/b/3.png"), flat_png(30));
  }
}

struct Cached {
  ImageSet set;
  std::vector<std::string> notes;
};

Cached read_train(const TemporaryDirectory& directory) {
  Cached cached;
  FolderCache cache(list_folder(directory.path(), Split::train), {}, directory / "cache");
  cached.set = cache.read(cached.notes);
  cache.keep(cached.set, cached.notes);
  return cached;
}

std::string cache_path(const TemporaryDirectory& directory) {
  return folder_cache_path(directory / "cache", list_folder(directory.path(), Split::train), {});
}

// Puts other pixels into a picture that keeps its size and time, so that only a decoder sees it.
void change_behind_the_cache(const std::string& path, std::uint8_t value) {
  const auto time = std::filesystem::last_write_time(path);
  const auto size = std::filesystem::file_size(path);
  write_bytes(path, flat_png(value));
  REQUIRE(std::filesystem::file_size(path) == size);
  std::filesystem::last_write_time(path, time);
}

TEST_CASE("the second read of a folder comes from the cache") {
  const TemporaryDirectory directory;
  write_folder(directory);
  const Cached first = read_train(directory);
  CHECK(first.notes.empty());
  CHECK(std::filesystem::exists(cache_path(directory)));
  change_behind_the_cache(directory / "train/a/1.png", 11);
  const Cached second = read_train(directory);
  CHECK(second.notes.empty());
  CHECK(second.set.pixels == first.set.pixels);
  CHECK(second.set.labels == std::vector<std::int32_t>{0, 1, 1});
  CHECK(second.set.classes == std::vector<std::string>{"a", "b"});
  CHECK(second.set.height == 3);
}

TEST_CASE("a picture that was changed, added or renamed has another cache file") {
  const TemporaryDirectory directory;
  write_folder(directory);
  const std::string before = cache_path(directory);
  CHECK(cache_path(directory) == before);
  const std::string picture = directory / "train/a/1.png";
  std::filesystem::last_write_time(
      picture, std::filesystem::last_write_time(picture) + std::chrono::seconds(1));
  const std::string touched = cache_path(directory);
  CHECK(touched != before);
  write_bytes(directory / "train/a/4.png", flat_png(40));
  const std::string added = cache_path(directory);
  CHECK(added != touched);
  std::filesystem::rename(directory / "train/a/4.png", directory / "train/a/5.png");
  CHECK(cache_path(directory) != added);
  const FolderListing listing = list_folder(directory.path(), Split::train);
  CHECK(folder_cache_path("cache", listing, {.size = 3}) !=
        folder_cache_path("cache", listing, {.size = 4}));
}

TEST_CASE("a cache file cut anywhere or with any bit flipped is replaced, with a note") {
  const TemporaryDirectory directory;
  write_folder(directory);
  const ImageSet expected = read_train(directory).set;
  const std::string path = cache_path(directory);
  std::ifstream file(path, std::ios::binary);
  const Bytes whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  REQUIRE(whole.size() == 56 + 3 * 27);

  const auto check_replaced = [&](const Bytes& damaged) {
    write_bytes(path, damaged);
    const Cached cached = read_train(directory);
    REQUIRE(cached.notes.size() == 1);
    REQUIRE(cached.notes[0].find(path) == 0);
    REQUIRE(cached.set.pixels == expected.pixels);
    REQUIRE(read_train(directory).notes.empty());
  };
  for (std::size_t size = 0; size < whole.size(); size += 5) {
    CAPTURE(size);
    check_replaced(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 7) {
    CAPTURE(bit);
    Bytes damaged = whole;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    check_replaced(damaged);
  }
}

TEST_CASE("a cache that cannot be written costs a note, not the run") {
  const TemporaryDirectory directory;
  write_folder(directory);
  write_text(directory / "cache", "a file where the directory should be");
  const Cached cached = read_train(directory);
  CHECK(cached.set.count == 3);
  CHECK(cached.notes.size() == 1);
}

TEST_CASE("load_data_set caches both splits of a folder and checks their classes") {
  const TemporaryDirectory directory;
  write_folder(directory);
  const auto load = [&] {
    return load_data_set({.format = "folder", .path = directory.path(), .validation = 1, .size = 2},
                         1, directory / "cache");
  };
  const DataSet data = load();
  CHECK(data.train.count == 2);
  CHECK(data.train.channels == 3);
  CHECK(data.train.width == 2);
  int files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(directory / "cache")) {
    ++files;
  }
  CHECK(files == 2);

  std::filesystem::rename(directory / "test/b", directory / "test/c");
  CHECK(error_of(load) == ErrorCode::bad_file);
  CHECK(message_of(load).find("only training images are of 'b'") != std::string::npos);
  std::filesystem::rename(directory / "test/c", directory / "test/Z");
  CHECK(message_of(load).find("only test images are of 'Z'") != std::string::npos);
}

TEST_CASE("load_data_set keeps nothing of a set that is refused, and shows its outline before") {
  const TemporaryDirectory directory;
  write_folder(directory);
  const DataConfig config = {
      .format = "folder", .path = directory.path(), .validation = 2, .limit = 1, .size = 2};
  DataSet outline;
  const auto refuse = [&](const DataSet& seen) {
    outline = seen;
    fail(ErrorCode::usage, "refused");
  };
  const std::string cache = directory / "deep/er/cache";
  CHECK(message_of([&] { load_data_set(config, 1, cache, refuse); }) == "refused");
  CHECK_FALSE(std::filesystem::exists(directory / "deep"));
  const DataSet data = load_data_set(config, 1, cache, [](const DataSet&) {});
  CHECK(std::filesystem::exists(cache));
  for (const auto part : {&DataSet::train, &DataSet::validation, &DataSet::test}) {
    const ImageSet &seen = outline.*part, &loaded = data.*part;
    CHECK(seen.pixels.empty());
    CHECK(seen.count == loaded.count);
    CHECK(seen.width == loaded.width);
    CHECK(seen.channels == loaded.channels);
    CHECK(seen.classes == loaded.classes);
  }
}

TEST_CASE("what a folder's pictures are brought to goes with the data set") {
  const TemporaryDirectory directory;
  write_folder(directory);
  DataConfig config = {.format = "folder",
                       .path = directory.path(),
                       .validation = 1,
                       .resize = "2",
                       .crop = "1x2",
                       .interpolation = "box"};
  const DataSet data = load_data_set(config, 1);
  CHECK(data.train.height == 1);
  CHECK(data.test.width == 2);
  CHECK(data.preprocessing.pictures == PictureForm{{2, 0}, {1, 2}, Interpolation::box});
  config.size = 2;
  CHECK(message_of([&] { load_data_set(config, 1); }) ==
        "data.size: found 2 beside data.resize or data.crop, expected one of them");
}

TEST_CASE("other forms of the same pictures have another cache") {
  const TemporaryDirectory directory;
  write_folder(directory);
  const FolderListing listing = list_folder(directory.path(), Split::train);
  const auto path = [&](const PictureForm& form) {
    return folder_cache_path(directory / "cache", listing, {.size = 0, .form = form});
  };
  const std::string plain = path({});
  CHECK(path({.resize = {2, 0}}) != plain);
  CHECK(path({.crop = {2, 0}}) != path({.resize = {2, 0}}));
  CHECK(path({.interpolation = Interpolation::box}) != plain);
}

TEST_CASE("pictures that stay in their files are split and measured like others, and not cached") {
  const TemporaryDirectory directory;
  write_folder(directory);
  const auto read = [&](std::uint64_t most_bytes) {
    std::vector<std::string> notes;
    FolderCache cache(list_folder(directory.path(), Split::train), {.most_bytes = most_bytes},
                      directory / "cache");
    ImageSet set = cache.read(notes);
    if (!set.is_in_memory()) cache.keep(set, notes);
    CHECK(notes.empty());
    return set;
  };
  ImageSet in_memory = read(1 << 20), in_files = read(1);
  REQUIRE(!in_files.is_in_memory());
  CHECK(!std::filesystem::exists(directory / "cache"));
  CHECK(measure_channels(in_files) == measure_channels(in_memory));
  const ImageSet held_of_files = hold_out(in_files, 1, 7), held = hold_out(in_memory, 1, 7);
  CHECK(held_of_files.labels == held.labels);
  for (const auto& [a, b] : {std::pair(&held_of_files, &held), {&in_files, &in_memory}}) {
    REQUIRE(a->count == b->count);
    ImageReader reader(*a, 3);
    CHECK(std::ranges::equal(reader.next(), b->pixels));
  }
}

}  // namespace
}  // namespace winnow
