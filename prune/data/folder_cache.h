// Decoded picture folders, kept in one file for the next run.
#pragma once

#include <string>
#include <vector>

#include "runtime/images/folder.h"

namespace winnow {

// The file for this listing: its name holds a hash of the pictures' paths, sizes and times of
// change and of the options, so a folder that changed has another one.
std::string folder_cache_path(const std::string& cache_directory, const FolderListing& listing,
                              const FolderOptions& options);

// read_folder, or what it gave before. A cache file that is damaged or cannot be written is no
// error: the pictures are decoded, and `notes` gets a line.
ImageSet read_folder_cached(const FolderListing& listing, const FolderOptions& options,
                            const std::string& cache_directory, std::vector<std::string>& notes);

}  // namespace winnow
