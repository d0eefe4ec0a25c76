// Time on the wall.
#pragma once

#include <chrono>

namespace winnow {

// Milliseconds that `work` takes.
template <typename Work>
double run_ms(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
  return ms.count();
}

}  // namespace winnow
