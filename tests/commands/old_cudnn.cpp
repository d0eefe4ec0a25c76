// Stands for a cuDNN of another version than the program wants.
#include <cstddef>

extern "C" std::size_t cudnnGetVersion() {  // NOLINT(readability-identifier-naming)
  return 80907;
}
