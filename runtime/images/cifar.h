// The binary files of CIFAR-10 and CIFAR-100 (www.cs.toronto.edu/~kriz/cifar.html).
#pragma once

#include <string>

#include "runtime/images/image_set.h"

namespace winnow {

// A record is one label byte (CIFAR-100: coarse, then fine), then [3, 32, 32] pixels. Every file is
// a whole number of records, and the training files of CIFAR-10 have equally many.
ImageSet read_cifar10(const std::string& directory, Split split);
ImageSet read_cifar100(const std::string& directory, Split split);

}  // namespace winnow
