#include "runtime/base/unfinished_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace winnow {
namespace {

// Memory that a signal handler can read whatever the threads are doing.
struct Slot {
  std::atomic<bool> is_taken = false;
  std::atomic<bool> is_named = false;  // `path` is whole
  std::array<char, 4096> path = {};
};
std::array<Slot, 16> slots;

}  // namespace

void remember_unfinished(const std::string& path) {
  if (path.size() >= slots[0].path.size()) return;
  for (Slot& slot : slots) {
    if (slot.is_taken.exchange(true)) continue;
    std::copy_n(path.c_str(), path.size() + 1, slot.path.begin());
    slot.is_named = true;
    return;
  }
}

void forget_unfinished(const std::string& path) {
  for (Slot& slot : slots) {
    if (!slot.is_named || path != slot.path.data()) continue;
    slot.is_named = false;
    slot.is_taken = false;
    return;
  }
}

void remove_unfinished() {
  for (const Slot& slot : slots) {
    if (slot.is_named) ::unlink(slot.path.data());
  }
}

}  // namespace winnow
