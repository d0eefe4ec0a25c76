#include "runtime/plan/session.h"

#include "runtime/base/error.h"

namespace winnow {

void Session::run_device(const float*, std::int64_t, float*, void*) {
  fail(ErrorCode::usage, "a run on device memory needs a GPU, the session's device is ", device());
}

}  // namespace winnow
