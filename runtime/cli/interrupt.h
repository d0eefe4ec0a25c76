// Ctrl-C and termination requests, noted and left for a good moment.
#pragma once

namespace winnow {

// While it lives, the first SIGINT or SIGTERM is only noted; a second one ends the process as
// usual. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  static bool requested();
};

}  // namespace winnow
