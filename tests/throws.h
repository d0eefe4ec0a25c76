// What an action throws, for tests of refusals.
#pragma once

#include <optional>
#include <string>

#include "runtime/base/error.h"

namespace winnow {

// The code of the Error that `action` throws, or nothing if it returns.
template <typename Action>
std::optional<ErrorCode> error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

// Its message; empty if it returns.
template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace winnow
