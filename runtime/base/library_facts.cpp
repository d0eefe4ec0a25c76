#include "runtime/base/library_facts.h"

#include <dlfcn.h>

namespace winnow {

std::string library_file_of(const void* address) {
  Dl_info info{};
  const bool is_known = dladdr(address, &info) != 0 && info.dli_fname != nullptr;
  return is_known ? info.dli_fname : "";
}

}  // namespace winnow
