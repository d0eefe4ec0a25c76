#include "runtime/cli/interrupt.h"

#include <csignal>

namespace winnow {
namespace {

volatile std::sig_atomic_t is_requested = 0;

void note(int signal) {
  is_requested = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  is_requested = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::requested() {
  return is_requested != 0;
}

}  // namespace winnow
