// Shapes of tensors: outermost dimension first, row-major storage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow {

using Shape = std::vector<std::int64_t>;

// Product of the dimensions; 1 for a scalar.
// Throws Error{usage} if a dimension is negative or the product overflows.
std::int64_t element_count(const Shape& shape);

// "[64, 3, 3, 3]"
std::string to_string(const Shape& shape);

}  // namespace winnow
