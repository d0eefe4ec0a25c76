// Decoded picture folders, kept in one file for the next run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/images/folder.h"

namespace winnow {

// The file for this listing: its name holds a hash of the pictures' paths, sizes and times of
// change and of the options, so a folder that changed has another one.
std::string folder_cache_path(const std::string& cache_directory, const FolderListing& listing,
                              const FolderOptions& options);

// The cache of one listing. A file that is damaged or cannot be written is no error: `notes` gets a
// line.
class FolderCache {
 public:
  FolderCache(FolderListing listing, const FolderOptions& options,
              const std::string& cache_directory);

  // read_folder, or what it gave before. Writes nothing. Pictures too many for memory are not kept.
  ImageSet read(std::vector<std::string>& notes);

  // Writes what read() gave, with the folders above, unless it came from the file.
  void keep(const ImageSet& set, std::vector<std::string>& notes) const;

 private:
  FolderListing listing_;
  FolderOptions options_;
  std::uint64_t key_;
  std::string path_;
  bool is_kept_ = false;
};

}  // namespace winnow
