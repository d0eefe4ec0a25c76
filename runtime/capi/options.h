// A caller's options, whichever header the caller was compiled with.
#pragma once

#include "runtime/capi/winnow.h"
#include "runtime/plan/session.h"

namespace winnow::capi {

// The options as this library knows them; null: the defaults. Throws Error{usage}.
winnow_options known_options(const winnow_options* given);

// What they mean to a session, the log apart. Throws Error{usage}.
SessionOptions session_options(const winnow_options& options);

}  // namespace winnow::capi
