#include "runtime/gpu/layer/family.h"

namespace winnow {

Extents LayerProblem::input_size(std::size_t i) const {
  return extents_of(program.values[step.inputs[i]].shape);
}

Extents LayerProblem::output_size() const {
  return extents_of(program.values[step.output].shape);
}

}  // namespace winnow
