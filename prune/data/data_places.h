// Where data sets are looked for.
#pragma once

#include <string>
#include <vector>

#include "runtime/images/image_set.h"

namespace winnow {

// Directories in the order in which they are tried. For a path: the path and, if it is relative,
// $WINNOW_DATA/path. Without one: below $WINNOW_DATA, the place where Debian installs
// Fashion-MNIST, below ./data. CIFAR is also tried in the subfolder that its archive makes.
std::vector<std::string> data_places(ImageFormat format, const std::string& path);

// The first of them that holds a training split; of text the first where something lies.
// Throws Error{usage} listing the places and how to get the data.
std::string find_data(ImageFormat format, const std::string& path);

}  // namespace winnow
