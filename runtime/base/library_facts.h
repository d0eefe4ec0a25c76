// What is known of a shared library that a program uses.
#pragma once

#include <string>

namespace winnow {

struct LibraryFacts {
  std::string name;     // "cuDNN"
  std::string version;  // "9.19.0"; empty if it is not there
  std::string path;     // the file that was loaded; empty if it is not there
  std::string missing;  // why it is not there
};

// The file that `address`, a function's, was loaded from; empty if that is not known.
std::string library_file_of(const void* address);

}  // namespace winnow
