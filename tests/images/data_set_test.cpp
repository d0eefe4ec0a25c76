#include "prune/data/data_set.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "prune/data/data_places.h"
#include "tests/images/write_files.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// Sets WINNOW_DATA for one case, which runs where there is no ./data.
class DataRoot {
 public:
  explicit DataRoot(const std::string& root) {
    setenv("WINNOW_DATA", root.c_str(), 1);
    std::filesystem::current_path(empty_.path());
  }
  DataRoot(const DataRoot&) = delete;
  DataRoot& operator=(const DataRoot&) = delete;
  ~DataRoot() {
    unsetenv("WINNOW_DATA");
    std::filesystem::current_path(before_);
  }

 private:
  TemporaryDirectory empty_;
  std::filesystem::path before_ = std::filesystem::current_path();
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a data set has its three parts, and statistics of the training part") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 20, 2, 2);
  const DataSet data =
      load_data_set({.format = "idx", .path = directory.path(), .validation = 5}, 1);
  CHECK(data.train.count == 15);
  CHECK(data.validation.count == 5);
  CHECK(data.test.count == 20);
  CHECK(data.directory == directory.path());
  CHECK(data.notes.empty());
  double sum = 0;
  for (std::uint8_t byte : data.train.pixels) sum += byte;
  REQUIRE(data.preprocessing.mean.size() == 1);
  CHECK(data.preprocessing.mean[0] == doctest::Approx(sum / 60 / 255));
}

TEST_CASE("limit thins out every part after the split") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 40, 2, 2);
  const DataConfig all = {.format = "idx", .path = directory.path(), .validation = 10};
  DataConfig few = all;
  few.limit = 4;
  const DataSet whole = load_data_set(all, 3), thinned = load_data_set(few, 3);
  CHECK(thinned.train.count == 4);
  CHECK(thinned.validation.count == 4);
  CHECK(thinned.test.count == 4);
  for (const std::size_t i : {0u, 1u, 2u, 3u}) {  // floor(i n / 4) of the whole parts
    CHECK(thinned.train.pixels[4 * i] == whole.train.pixels[4 * (i * 30 / 4)]);
    CHECK(thinned.validation.pixels[4 * i] == whole.validation.pixels[4 * (i * 10 / 4)]);
    CHECK(thinned.test.pixels[4 * i] == whole.test.pixels[4 * (i * 40 / 4)]);
  }
}

TEST_CASE("classes of an IDX set are those of both splits") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 20, 2, 2);
  write_bytes(directory / "t10k-labels-idx1-ubyte", idx_bytes({20}, Bytes(20, 3)));
  const DataSet data =
      load_data_set({.format = "idx", .path = directory.path(), .validation = 1}, 1);
  CHECK(data.test.classes.size() == 10);
  CHECK(data.train.classes.size() == 10);
  CHECK(data.train.classes[9] == "9");
}

TEST_CASE("an IDX set in a directory called fashion-mnist has the names of its classes") {
  const TemporaryDirectory directory;
  write_idx_set(directory / "fashion-mnist", 20, 2, 2);
  for (const std::string slash : {"", "/"}) {
    const DataSet data = load_data_set(
        {.format = "idx", .path = directory / "fashion-mnist" + slash, .validation = 1}, 1);
    CHECK(data.test.classes[9] == "Ankle boot");
    CHECK(data.validation.classes == data.test.classes);
  }
}

TEST_CASE("splits that differ in their images' size are refused") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 20, 2, 2);
  write_bytes(directory / "t10k-images-idx3-ubyte", idx_bytes({20, 1, 4}, Bytes(80)));
  const auto load = [&] {
    load_data_set({.format = "idx", .path = directory.path(), .validation = 1}, 1);
  };
  CHECK(error_of(load) == ErrorCode::bad_file);
  CHECK(contains(message_of(load), "test images of 1 x 1 x 4, training images of 1 x 2 x 2"));
}

TEST_CASE("numbers out of range and unknown formats are refused") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 20, 2, 2);
  const auto refusal = [&](DataConfig config) {
    config.path = directory.path();
    return error_of([&] { load_data_set(config, 1); });
  };
  CHECK(refusal({.format = "idx", .validation = 20}) == ErrorCode::usage);
  CHECK(refusal({.format = "idx", .validation = -2}) == ErrorCode::usage);
  CHECK(refusal({.format = "idx", .validation = 1, .limit = -1}) == ErrorCode::usage);
  CHECK(refusal({.format = "idx", .validation = 1, .size = -1}) == ErrorCode::usage);
  CHECK(refusal({.format = "idx", .validation = 1, .size = 28}) == ErrorCode::usage);
  CHECK(refusal({.format = "idy", .validation = 1}) == ErrorCode::usage);
  CHECK(refusal({.format = "idx", .validation = 19}) == std::nullopt);
}

TEST_CASE("the number of validation samples follows count, fraction or the size of the set") {
  CHECK(validation_count(5000, 60000) == 5000);
  CHECK(validation_count(0, 60000) == 0);
  CHECK(validation_count(0.25, 1000) == 250);
  CHECK(validation_count(0.001, 20) == 1);  // never none
  CHECK(validation_count(kAutomaticValidation, 60000) == 5000);
  CHECK(validation_count(kAutomaticValidation, 50000) == 5000);
  CHECK(validation_count(kAutomaticValidation, 49999) == 4999);
  CHECK(validation_count(kAutomaticValidation, 12) == 1);
  CHECK(validation_count(kAutomaticValidation, 2) == 1);
  for (const double bad : {-2.0, 1.5, 20.0, 1e18}) {
    CAPTURE(bad);
    CHECK(error_of([&] { validation_count(bad, 20); }) == ErrorCode::usage);
  }
  CHECK(error_of([] { validation_count(kAutomaticValidation, 1); }) == ErrorCode::usage);
}

TEST_CASE("a few images suffice with the default validation, and none need be held out") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 20, 2, 2);
  DataConfig config = {.format = "idx", .path = directory.path()};
  CHECK(load_data_set(config, 1).validation.count == 2);
  config.validation = 0.5;
  CHECK(load_data_set(config, 1).train.count == 10);
  config.validation = 0;
  CHECK(load_data_set(config, 1).train.count == 20);
}

TEST_CASE("names of classes that are no text are refused") {
  const TemporaryDirectory directory;
  write_idx_set(directory.path(), 20, 2, 2);
  write_text(directory / "classes.txt", "0\n1\n2\n3\n4\n5\n6\n7\n\xe4\n9\n");
  const auto load = [&] { load_data_set({.format = "idx", .path = directory.path()}, 1); };
  CHECK(error_of(load) == ErrorCode::usage);
  CHECK(message_of(load) == "data: the class name '\\xe4' is not UTF-8");
}

TEST_CASE("a missing data set names the places and how to get it") {
  const TemporaryDirectory directory;
  const DataRoot root(directory / "root");
  const auto load = [](const DataConfig& config) { return [config] { load_data_set(config, 1); }; };
  const auto cifar = load({.format = "cifar10"});
  CHECK(error_of(cifar) == ErrorCode::usage);
  CHECK(contains(message_of(cifar), directory / "root/cifar10, "));
  CHECK(contains(message_of(cifar), "cifar-10-binary.tar.gz"));

  const auto idx = load({.format = "idx", .path = directory / "nothing"});
  CHECK(error_of(idx) == ErrorCode::usage);
  CHECK(contains(message_of(idx), directory / "nothing"));
  CHECK(contains(message_of(idx), "apt-get install dataset-fashion-mnist"));

  const auto folder = load({.format = "folder"});
  CHECK(error_of(folder) == ErrorCode::usage);
  CHECK(contains(message_of(folder), "data.path"));
}

TEST_CASE("data is looked for below WINNOW_DATA first, then in the usual places") {
  const DataRoot root("/root");
  CHECK(data_places(ImageFormat::idx, "") ==
        std::vector<std::string>{"/root/fashion-mnist", "/root/mnist",
                                 "/usr/share/datasets/fashion-mnist", "./data/fashion-mnist",
                                 "./data/mnist"});
  CHECK(data_places(ImageFormat::cifar100, "here") ==
        std::vector<std::string>{"here", "here/cifar-100-binary", "/root/here",
                                 "/root/here/cifar-100-binary"});
  CHECK(data_places(ImageFormat::folder, "/there") == std::vector<std::string>{"/there"});
}

TEST_CASE("find_data takes the first place that holds a training split") {
  const TemporaryDirectory directory;
  const DataRoot root(directory.path());
  write_idx_set(directory / "mnist", 3, 2, 2);
  CHECK(find_data(ImageFormat::idx, "") == directory / "mnist");
  write_idx_set(directory / "fashion-mnist", 3, 2, 2);
  CHECK(find_data(ImageFormat::idx, "") == directory / "fashion-mnist");
  CHECK(find_data(ImageFormat::idx, "mnist") == directory / "mnist");

  Bytes bytes;
  append_cifar_record(bytes, {1, 1}, 1);
  write_bytes(directory / "cifar-100-binary/train.bin", bytes);
  CHECK(find_data(ImageFormat::cifar100, "") == directory / "cifar-100-binary");
}

}  // namespace
}  // namespace winnow
