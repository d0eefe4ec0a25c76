// A session that runs a model with the reference loops: the oracle of the backends' tests.
// (`runtime verify` compares layer by layer on a backend's own values:
// runtime/verify/layer_errors.h.)
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/plan/program.h"
#include "runtime/plan/session.h"
#include "runtime/reference/operations.h"

namespace winnow {

// One step with its fused relu, on dense weights (zeros included).
//
//   weight, bias  as parameters_of the step's node says; empty where the step has none
namespace reference {
Array run_step(const Step& step, std::span<const Array* const> inputs,
               std::span<const float> weight, std::span<const float> bias);
}  // namespace reference

// Every layer's family is "reference". `options` gives the batch; choice, family and threads do
// not matter. Throws Error{bad_file} for a model that does not fit its graph.
std::unique_ptr<Session> make_reference_session(const DeployedModel& model,
                                                const SessionOptions& options);

}  // namespace winnow
