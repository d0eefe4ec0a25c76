// Whether a session computes what its model says.
#pragma once

#include "runtime/model/model.h"
#include "runtime/plan/session.h"

namespace winnow {

// Runs a batch of random inputs (the same each time) and compares each layer with the reference
// loops, which takes long. Returns the largest relative error of a layer. Throws Error{quality}
// that names the first layer that differs by more than the rounding of the session's precision
// explains.
//
//   options  those of the session
double verify_session(const DeployedModel& model, Session& session, const SessionOptions& options);

}  // namespace winnow
