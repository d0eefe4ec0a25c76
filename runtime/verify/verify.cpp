#include "runtime/verify/verify.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/plan/layer_check.h"
#include "runtime/verify/layer_errors.h"
#include "runtime/verify/random_input.h"

namespace winnow {

namespace {

constexpr std::uint64_t kSeed = 7;

}  // namespace

double verify_session(const DeployedModel& model, Session& session, const SessionOptions& options) {
  const bool is_rounded = options.precision == Precision::f16 || options.use_tf32;
  const double tolerance = rounding_tolerance(is_rounded);
  const Shape shape = infer_shapes(model.graph, options.batch).front();
  const std::vector<LayerError> errors = layer_errors(
      model, session, options.batch, random_input(model, shape, kSeed), [](std::size_t) {});
  double worst = 0;
  for (const LayerError& error : errors) {
    if (!error.is_within(tolerance)) {
      fail(ErrorCode::quality, "layer ", in_quotes(error.plan.name), " (", error.plan.kernel,
           ") differs from the reference by ", error.relative, ", expected at most ", tolerance);
    }
    if (error.is_compared()) worst = std::max(worst, error.relative);
  }
  return worst;
}

}  // namespace winnow
