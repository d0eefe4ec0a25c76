// Values as bytes, for ranks of one program on machines of one kind.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/base/error.h"

namespace winnow {

class MessageWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(values.size());
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

  std::string bytes;
};

// Reads what a writer wrote, in its order. Throws Error{internal}, which begins with `what`, if the
// bytes do not fit.
class MessageReader {
 public:
  MessageReader(const std::string& bytes, const char* what) : bytes_(bytes), what_(what) {}

  template <typename T>
  void get(T& value) {
    take(&value, sizeof value);
  }
  template <typename T>
  void get_all(std::vector<T>& values) {
    std::size_t count = 0;
    get(count);
    if (count > (bytes_.size() - next_) / sizeof(T)) misfit();
    values.resize(count);
    take(values.data(), count * sizeof(T));
  }
  void expect_end() const {
    if (next_ != bytes_.size()) misfit();
  }

 private:
  [[noreturn]] void misfit() const {
    fail(ErrorCode::internal, what_, ": ", bytes_.size(), " bytes do not fit");
  }
  void take(void* to, std::size_t size) {
    if (size > bytes_.size() - next_) misfit();
    if (size > 0) std::memcpy(to, bytes_.data() + next_, size);
    next_ += size;
  }

  const std::string& bytes_;
  const char* what_;
  std::size_t next_ = 0;
};

}  // namespace winnow
