// NVIDIA's libraries as tables of function pointers that are filled at run time.
//
// A table is a struct with a pointer for each function that we call, named like the function. A
// macro lists the names once:
//
//   #define MY_FUNCTIONS(apply) apply(libCreate) apply(libDestroy)
//   struct My {
//     MY_FUNCTIONS(WINNOW_DECLARE_FUNCTION)
//     explicit My(const DynamicLibrary& library) { MY_FUNCTIONS(WINNOW_LOAD_FUNCTION) }
//     static const My& get();  // opens the library on the first call
//   };
#pragma once

#include <utility>

#include "runtime/device/dynamic_library.h"

#define WINNOW_DECLARE_FUNCTION(name) decltype(&::name) name = nullptr;

// Throws Error{device} if the library lacks the function.
#define WINNOW_LOAD_FUNCTION(name) this->name = library.function<decltype(this->name)>(#name);

namespace winnow {

// A move-only owner of an object of a library: kDestroy is the member of its table `Library` that
// destroys it.
template <typename Library, typename Handle, auto kDestroy>
class VendorObject {
 public:
  VendorObject() = default;
  explicit VendorObject(Handle handle) : handle_(handle) {}
  ~VendorObject() {
    if (handle_ != nullptr) (Library::get().*kDestroy)(handle_);
  }
  VendorObject(VendorObject&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  VendorObject& operator=(VendorObject&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

}  // namespace winnow
