// What every function of the C ABI shares: an engine, and statuses in place of exceptions.
#pragma once

#include <functional>
#include <string>

#include "runtime/base/error.h"
#include "runtime/capi/winnow.h"
#include "runtime/engine.h"

struct winnow_engine {
  winnow::Engine engine;
  winnow::SessionOptions how;
  std::string device;
  std::string notice;
  std::string plan;  // as JSON
};

namespace winnow::capi {

// Runs `action`. Its exceptions become statuses, and the calling thread's last error.
winnow_status guarded(const std::function<void()>& action);

const char* last_error();

// Throws Error{usage} with the message.
void require(bool condition, const char* message);

}  // namespace winnow::capi
