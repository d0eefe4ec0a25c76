#include "runtime/gpu/layer/family.h"

#include "runtime/base/error.h"

namespace winnow {

void PreparedLayer::launch_on_bytes(const std::uint8_t*, const ActivationView&,
                                    cudaStream_t) const {
  fail(ErrorCode::internal, "a layer that reads no bytes was given some");
}

Extents LayerProblem::input_size(std::size_t i) const {
  return extents_of(program.values[step.inputs[i]].shape);
}

Extents LayerProblem::output_size() const {
  return extents_of(program.values[step.output].shape);
}

}  // namespace winnow
