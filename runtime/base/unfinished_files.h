// Files that nobody should find if a signal ends the process now: temporary ones and locks.
#pragma once

#include <string>

namespace winnow {

// At most 16 at a time, of paths below 4096 bytes; what is beyond that is not remembered.
void remember_unfinished(const std::string& path);
void forget_unfinished(const std::string& path);

// Removes all that are remembered. Safe in a signal handler, after which the process ends.
void remove_unfinished();

}  // namespace winnow
