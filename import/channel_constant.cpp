#include "import/channel_constant.h"

#include <algorithm>

namespace winnow {

std::vector<float> channel_constant(const OnnxCall& call, std::size_t i, const Shape& shape) {
  const Tensor tensor = call.constant(i);
  const std::vector<float> values = to_floats(tensor);
  const auto channels = static_cast<std::size_t>(shape.at(0));
  const auto rank = std::ssize(shape) + 1;
  // Dimensions of a constant are counted from the last one; those in front are 1.
  const std::int64_t in_front = rank - std::ssize(tensor.shape());
  if (values.size() == 1 && in_front >= 0) return std::vector<float>(channels, values[0]);
  bool fits = in_front >= 0 && in_front <= 1 && values.size() == channels;
  for (std::size_t d = 0; fits && d < tensor.shape().size(); ++d) {
    const bool is_channels = std::ssize(shape) >= 1 && static_cast<std::int64_t>(d) + in_front == 1;
    fits = is_channels ? tensor.shape()[d] == shape[0] : tensor.shape()[d] == 1;
  }
  if (!fits) {
    call.refuse("its constant has the shape ", to_string(tensor.shape()),
                ", expected one number or one for each of ", channels, " channels");
  }
  return values;
}

}  // namespace winnow
