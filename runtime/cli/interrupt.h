// Ctrl-C and termination requests: they end a program at once, or are noted for a good moment.
#pragma once

#include <string>

namespace winnow {

// From now on SIGINT and SIGTERM end the process at once with exit status 130 and one line on
// stderr, "NAME: interrupted". Files that are half-written are removed (unfinished_files.h). A
// signal that whoever started the process has it ignore stays ignored.
void end_on_interrupt(const std::string& name);

// While it lives, the first SIGINT or SIGTERM is only noted, and so are those that follow it within
// a second: launchers send one request twice. A later one, 2 s after the first at the latest, ends
// the process as without it. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  static bool requested();
};

}  // namespace winnow
