#include "runtime/cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "runtime/base/error.h"
#include "runtime/base/unfinished_files.h"

namespace winnow {
namespace {

using Handler = void (*)(int);

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

// Signals so close to the first belong to it: `timeout` and launchers of ranks pass on to a process
// what the terminal has sent it already.
constexpr std::time_t kSameSignalSeconds = 1;

// Handlers run on any thread, and on several at once.
std::atomic<std::time_t> requested_at = 0;  // 0: not yet
std::atomic<bool> is_ending = false;
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<std::time_t>::is_always_lock_free);

std::array<Handler, kSignals.size()> before = {SIG_DFL, SIG_DFL};  // the guard
std::array<char, 64> last_line = {};

// The handlers call nothing that a signal handler may not call.

void end(int) {
  if (is_ending.exchange(true)) return;
  remove_unfinished();
  const ssize_t ignored = ::write(STDERR_FILENO, last_line.data(), std::strlen(last_line.data()));
  static_cast<void>(ignored);
  ::_exit(static_cast<int>(ErrorCode::interrupted));
}

std::time_t seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1;  // never 0
}

void end_as_before(int signal) {
  const Handler handler = before[signal == SIGINT ? 0 : 1];
  std::signal(signal, handler == SIG_IGN ? SIG_DFL : handler);
  std::raise(signal);
}

void note(int signal) {
  const std::time_t now = seconds();
  std::time_t first = 0;
  if (requested_at.compare_exchange_strong(first, now)) return;
  if (now - first > kSameSignalSeconds) end_as_before(signal);
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
  requested_at = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) before[i] = std::signal(kSignals[i], note);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before[i]);
}

bool InterruptGuard::requested() {
  return requested_at != 0;
}

}  // namespace winnow
