// Checks of numbers in files: a checkpoint holds finite ones, an fp16 form only what fp16 can hold.
#pragma once

#include <span>
#include <string>

#include "runtime/model/tensor.h"

namespace winnow {

// Throws Error{bad_file} "PLACE: tensor 'NAME': element I is nan, expected a finite number" for the
// first element that is NaN or infinite. Tensors of integers pass.
void require_finite(const Tensor& tensor, const std::string& name, const std::string& place);

// Throws Error{bad_file} in the same form for the first value that is not finite or whose magnitude
// exceeds 65504, the largest number of fp16. `remedy` ends the message and says what holds such
// values.
void require_half_range(std::span<const float> values, const std::string& name,
                        const std::string& place, const std::string& remedy);

}  // namespace winnow
