#include "runtime/capi/guard.h"

#include <exception>
#include <new>

#include "runtime/base/suggest.h"

namespace winnow::capi {
namespace {

thread_local std::string last;

}  // namespace

winnow_status guarded(const std::function<void()>& action) {
  try {
    last.clear();
    action();
    return WINNOW_OK;
  } catch (const Error& error) {
    last = one_line(error.what());
    const int code = static_cast<int>(error.code());
    return code <= WINNOW_QUALITY ? static_cast<winnow_status>(code) : WINNOW_INTERNAL;
  } catch (const std::bad_alloc&) {
    last = "out of memory";
    return WINNOW_DEVICE;
  } catch (const std::exception& error) {
    last = one_line(error.what());
  } catch (...) {
    last = "unknown exception";
  }
  return WINNOW_INTERNAL;
}

const char* last_error() {
  return last.c_str();
}

void require(bool condition, const char* message) {
  if (!condition) fail(ErrorCode::usage, message);
}

}  // namespace winnow::capi
