#include "runtime/cpu/openmp_threads.h"

#include <dlfcn.h>

namespace winnow {
namespace {

// Looked up by name, so that nothing of ours is compiled with or linked to OpenMP.
template <typename Function>
Function* openmp_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

int current_threads() {
  static const auto get = openmp_function<int()>("omp_get_max_threads");
  return get ? get() : 0;
}

void set_threads(int threads) {
  static const auto set = openmp_function<void(int)>("omp_set_num_threads");
  if (set && threads > 0) set(threads);
}

}  // namespace

OpenMpThreads::OpenMpThreads(int threads) : before_(current_threads()) {
  if (before_ != threads) set_threads(threads);
}

OpenMpThreads::~OpenMpThreads() {
  set_threads(before_);
}

}  // namespace winnow
