#include "runtime/cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/base/unfinished_files.h"

namespace winnow {
namespace {

using Handler = void (*)(int);

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

volatile std::sig_atomic_t is_requested = 0;
std::array<Handler, kSignals.size()> before = {SIG_DFL, SIG_DFL};  // the guard
std::array<char, 64> last_line = {};

// Calls nothing that a signal handler may not call.
void end(int) {
  remove_unfinished();
  const ssize_t ignored = ::write(STDERR_FILENO, last_line.data(), std::strlen(last_line.data()));
  static_cast<void>(ignored);
  ::_exit(static_cast<int>(ErrorCode::interrupted));
}

void note(int signal) {
  is_requested = 1;
  const Handler next = before[signal == SIGINT ? 0 : 1];
  std::signal(signal, next == SIG_IGN ? SIG_DFL : next);
}

}  // namespace

void end_on_interrupt(const std::string& name) {
  // A line of progress may be open.
  const char* start = ::isatty(STDERR_FILENO) == 1 ? "\n" : "";
  std::snprintf(last_line.data(), last_line.size(), "%s%s: interrupted\n", start, name.c_str());
  for (const int signal : kSignals) {
    if (std::signal(signal, end) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

InterruptGuard::InterruptGuard() {
  is_requested = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) before[i] = std::signal(kSignals[i], note);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before[i]);
}

bool InterruptGuard::requested() {
  return is_requested != 0;
}

}  // namespace winnow
