// Folders of pictures, one subfolder per class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"

namespace winnow {

// What a folder holds, before anything is decoded.
struct FolderListing {
  std::vector<std::string> classes;  // names of the subfolders, sorted by bytes
  std::vector<std::string> paths;    // pictures, class by class, sorted by bytes within a class
  std::vector<std::int32_t> labels;  // [paths.size()]
};

// Finds DIRECTORY/train, or for the test split the first of DIRECTORY/{test, val, validation}, and
// all files *.jpg, *.jpeg, *.png (any case) at any depth below its subfolders. Names that begin
// with a dot do not count. Throws Error{bad_file} if the split, its classes or the pictures of a
// class are missing, and for pictures of kinds that are not decoded (*.webp and the like).
FolderListing list_folder(const std::string& directory, Split split);

// Decodes all pictures of `listing` on all cores, unless they take more memory than options allow:
// then they stay in their files (ImageSet::files). Of several damaged pictures the first is named.
// Throws as read_image_set.
ImageSet read_folder(const FolderListing& listing, const FolderOptions& options);

}  // namespace winnow
