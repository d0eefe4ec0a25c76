#include "runtime/images/folder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>

#include "runtime/base/error.h"
#include "runtime/base/processor.h"
#include "runtime/images/picture.h"
#include "runtime/images/resize.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

bool is_picture(const fs::path& path) {
  const std::string extension = extension_of(path);
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

// A picture that is left out would change a data set without a word.
void require_no_other_picture(const fs::path& path) {
  const std::array<const char*, 7> others = {".bmp", ".gif",  ".pgm", ".ppm",
                                             ".tif", ".tiff", ".webp"};
  if (std::find(others.begin(), others.end(), extension_of(path)) == others.end()) return;
  fail(ErrorCode::bad_file, path.string(),
       ": expected pictures of the kinds *.jpg, *.jpeg and *.png only");
}

fs::path find_split(const std::string& directory, Split split) {
  const std::array<const char*, 3> test_names = {"test", "val", "validation"};
  const std::array<const char*, 1> train_names = {"train"};
  const std::span<const char* const> names =
      split == Split::train ? std::span<const char* const>(train_names) : test_names;
  for (const char* name : names) {
    std::error_code ignored;
    if (fs::is_directory(fs::path(directory) / name, ignored)) return fs::path(directory) / name;
  }
  fail(ErrorCode::bad_file, directory, ": no folder ",
       split == Split::train ? "train" : "test, val or validation");
}

std::vector<std::string> subfolders(const fs::path& directory) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.is_directory() && !is_hidden(entry.path())) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> pictures_below(const fs::path& directory) {
  std::vector<std::string> paths;
  for (auto entry = fs::recursive_directory_iterator(directory);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      require_no_other_picture(entry->path());
      if (is_picture(entry->path())) paths.push_back(entry->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

FolderListing list_classes(const fs::path& root) {
  FolderListing listing;
  listing.classes = subfolders(root);
  if (listing.classes.empty()) fail(ErrorCode::bad_file, root.string(), ": no class folders");
  for (std::size_t label = 0; label < listing.classes.size(); ++label) {
    const fs::path directory = root / listing.classes[label];
    const std::vector<std::string> paths = pictures_below(directory);
    if (paths.empty()) {
      fail(ErrorCode::bad_file, directory.string(), ": no pictures (*.jpg, *.jpeg, *.png)");
    }
    listing.paths.insert(listing.paths.end(), paths.begin(), paths.end());
    listing.labels.insert(listing.labels.end(), paths.size(), static_cast<std::int32_t>(label));
  }
  return listing;
}

// Runs work(0) .. work(count - 1) on all cores. If any throws, the exception of the smallest index
// is thrown: indices are handed out in order, so all smaller ones are finished by then.
void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0, first_failed = count;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    for (std::size_t i = next++; i < first_failed; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < first_failed) {
          first_failed = i;
          failure = std::current_exception();
        }
      }
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(run);
  run();
  threads.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

// What the first picture comes to.
Sides first_sides(const FolderListing& listing, const FolderOptions& options) {
  if (options.form.crop.is_given()) return options.form.crop;
  if (options.form.resize.width > 0) return options.form.resize;
  if (!options.form.is_given() && options.size > 0) return {options.size, options.size};
  const std::string& path = listing.paths.front();
  const Picture first = formed(decode_picture(path), options.form, path);
  return {first.height, first.width};
}

// The set with its pictures in their files.
ImageSet undecoded(const FolderListing& listing, const FolderOptions& options) {
  const Sides sides = first_sides(listing, options);
  ImageSet set;
  set.count = static_cast<std::int64_t>(listing.paths.size());
  set.channels = options.channels;
  set.height = sides.height;
  set.width = sides.width;
  set.labels = listing.labels;
  set.classes = listing.classes;
  set.files = listing.paths;
  set.folder = options;
  return set;
}

void check_options(const FolderOptions& options) {
  if (options.size < 0 || options.size > kMostPixelsOfASide) {
    fail(ErrorCode::usage, "picture size: found ", options.size, ", expected 0 to ",
         kMostPixelsOfASide);
  }
  if (options.size > 0 && options.form.is_given()) {
    fail(ErrorCode::usage, "picture size: found ", options.size,
         " beside a resize or crop, expected one of them");
  }
  if (options.channels != 1 && options.channels != 3) {
    fail(ErrorCode::usage, "picture channels: found ", options.channels, ", expected 1 or 3");
  }
  check_picture_form(options.form, "picture form");
}

}  // namespace

FolderListing list_folder(const std::string& directory, Split split) {
  const fs::path root = find_split(directory, split);
  try {
    return list_classes(root);
  } catch (const fs::filesystem_error& error) {
    fail(ErrorCode::bad_file, root.string(), ": ", error.code().message());
  }
}

std::uint64_t picture_memory() {
  return std::min<std::uint64_t>(std::uint64_t{4} << 30, physical_memory() / 4);
}

ImageSet read_folder(const FolderListing& listing, const FolderOptions& options) {
  check_options(options);
  if (listing.paths.empty()) fail(ErrorCode::usage, "no pictures to read");
  ImageSet set = undecoded(listing, options);
  const auto size = static_cast<std::size_t>(set.channels * set.height * set.width);
  const std::uint64_t most = options.most_bytes > 0 ? options.most_bytes : picture_memory();
  if (listing.paths.size() > most / size) return set;
  set.pixels.resize(listing.paths.size() * size);
  for_each_index(listing.paths.size(), [&](std::size_t i) {
    read_file_of(set, i, std::span(set.pixels).subspan(i * size, size));
  });
  set.files.clear();
  return set;
}

}  // namespace winnow
