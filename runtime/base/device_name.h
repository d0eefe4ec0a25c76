// Names of devices as users write them.
#pragma once

#include <string_view>

namespace winnow {

// Where to run. `automatic` takes GPU 0 if there is one and the CPU otherwise.
struct Device {
  enum class Kind { automatic, cpu, cuda } kind = Kind::automatic;
  int index = 0;  // of the GPU, from 0

  friend bool operator==(const Device&, const Device&) = default;
};

// "auto", "cpu", "cuda", "cuda:1". Throws Error{usage} with a did-you-mean; "gpu:1" is taken for a
// wrong name of "cuda:1".
Device device_from(std::string_view text);

}  // namespace winnow
