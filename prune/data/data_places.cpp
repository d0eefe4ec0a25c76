#include "prune/data/data_places.h"

#include <cstdlib>
#include <filesystem>

#include "runtime/base/error.h"
#include "runtime/text/sentences.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// What is known of a format: its folders below a root, the subfolder of its archive, files of which
// one shows that a training split is there, and where to get it.
struct Whereabouts {
  std::vector<std::string> names;
  std::string archive_folder;
  std::vector<std::string> markers;
  std::string source;
};

Whereabouts whereabouts(ImageFormat format) {
  switch (format) {
    case ImageFormat::cifar10:
      return {{"cifar10"},
              "cifar-10-batches-bin",
              {"data_batch_1.bin"},
              "unpack cifar-10-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html there"};
    case ImageFormat::cifar100:
      return {{"cifar100"},
              "cifar-100-binary",
              {"train.bin"},
              "unpack cifar-100-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html there"};
    case ImageFormat::idx:
      return {{"fashion-mnist", "mnist"},
              "",
              {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz", "train-images.idx3-ubyte",
               "train-images.idx3-ubyte.gz"},
              "get Fashion-MNIST with: apt-get install dataset-fashion-mnist"};
    case ImageFormat::folder:
      return {{}, "", {"train"}, "put pictures into train/CLASS/ and test/CLASS/"};
    case ImageFormat::text:
      return {{}, "", {}, "give a folder, a file or the NAME of files NAME.CLASS"};
  }
  fail(ErrorCode::internal, "whereabouts: unknown format");
}

std::string data_root() {
  const char* root = std::getenv("WINNOW_DATA");
  return root ? root : "";
}

std::vector<std::string> roots_of(ImageFormat format, const std::string& path) {
  const std::string root = data_root();
  std::vector<std::string> places;
  if (!path.empty()) {
    places.push_back(path);
    if (!root.empty() && fs::path(path).is_relative()) places.push_back(root + "/" + path);
    return places;
  }
  const Whereabouts known = whereabouts(format);
  if (!root.empty()) {
    for (const std::string& name : known.names) places.push_back(root + "/" + name);
    if (!known.archive_folder.empty()) places.push_back(root);
  }
  if (format == ImageFormat::idx) places.emplace_back("/usr/share/datasets/fashion-mnist");
  for (const std::string& name : known.names) places.push_back("./data/" + name);
  if (!known.archive_folder.empty()) places.emplace_back("./data");
  return places;
}

std::string listed(const std::vector<std::string>& places) {
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "" : ", ") + place;
  return text;
}

}  // namespace

std::vector<std::string> data_places(ImageFormat format, const std::string& path) {
  const std::string archive_folder = whereabouts(format).archive_folder;
  std::vector<std::string> places;
  for (const std::string& root : roots_of(format, path)) {
    places.push_back(root);
    if (!archive_folder.empty()) places.push_back(root + "/" + archive_folder);
  }
  return places;
}

std::string find_data(ImageFormat format, const std::string& path) {
  const Whereabouts known = whereabouts(format);
  const std::vector<std::string> places = data_places(format, path);
  for (const std::string& place : places) {
    for (const std::string& marker : known.markers) {
      std::error_code ignored;
      if (fs::exists(fs::path(place) / marker, ignored)) return place;
    }
  }
  if (places.empty()) {
    fail(ErrorCode::usage, "data.path: is empty, and ",
         format == ImageFormat::text ? "text" : "a folder of pictures", " has no usual place; ",
         known.source);
  }
  if (format == ImageFormat::text) {
    for (const std::string& place : places) {
      if (holds_sentences(place)) return place;
    }
    return places.front();  // read_sentences says what is missing
  }
  fail(ErrorCode::usage, "no training data: looked for ", known.markers.front(), " in ",
       listed(places), "; ", known.source, ", or give data.path or WINNOW_DATA");
}

}  // namespace winnow
