#include "runtime/model/shape.h"

#include "runtime/base/error.h"

namespace winnow {

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool has_zero = false;
  bool overflows = false;
  for (const std::int64_t size : shape) {
    if (size < 0) fail(ErrorCode::usage, "shape ", to_string(shape), " has a negative dimension");
    has_zero = has_zero || size == 0;
    overflows = overflows || __builtin_mul_overflow(count, size, &count);
  }
  if (has_zero) return 0;
  if (overflows) fail(ErrorCode::usage, "shape ", to_string(shape), " has too many elements");
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace winnow
