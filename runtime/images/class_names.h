// Names of classes, where a data set has them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace winnow {

// One name per line; blank lines do not count. Empty if there is no such file.
// Throws Error{bad_file} if there is one with another number of names; expected 0: any number.
std::vector<std::string> read_class_names(const std::string& path, std::size_t expected);

// "0", "1", ... for files without names.
std::vector<std::string> numbered_classes(std::size_t count);

}  // namespace winnow
