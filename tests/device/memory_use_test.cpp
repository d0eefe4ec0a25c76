#include "runtime/device/memory_use.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace winnow {

TEST_CASE("the peak is the most that was in use since it was restarted") {
  MemoryUse use;
  CHECK(use.peak() == 0);
  use.add(100);
  use.add(50);
  use.remove(100);
  CHECK(use.now() == 50);
  CHECK(use.peak() == 150);
  use.restart_peak();
  CHECK(use.peak() == 50);
  use.add(10);
  CHECK(use.peak() == 60);
}

TEST_CASE("threads that use memory at the same time are all counted") {
  constexpr std::size_t kThreads = 8, kRounds = 1000, kBytes = 16;
  MemoryUse use;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kRounds; ++i) use.add(kBytes);
      for (std::size_t i = 1; i < kRounds; ++i) use.remove(kBytes);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(use.now() == kThreads * kBytes);
  CHECK(use.peak() >= kRounds * kBytes);
  CHECK(use.peak() <= kThreads * kRounds * kBytes);
}

}  // namespace winnow
