// What a rank of a run owes the others when it fails.
#pragma once

#include <exception>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {

// Does `work`; if it fails, tells the other ranks why by ranks.leave(code, why) before it passes
// the error on.
template <typename Ranks, typename Work>
auto tell_ranks_of_failure(Ranks& ranks, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    ranks.leave(error.code(), error.what());
    throw;
  } catch (const std::exception& error) {
    ranks.leave(ErrorCode::internal, one_line(error.what()));
    throw;
  }
}

}  // namespace winnow
