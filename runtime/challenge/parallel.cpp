#include "runtime/challenge/parallel.h"

#include <algorithm>
#include <atomic>

#include "runtime/base/thread_pool.h"

namespace winnow::challenge {

void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& job) {
  if (count == 0) return;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> is_stopped = false;
  ThreadPool pool(
      static_cast<int>(std::min<std::size_t>(count, static_cast<std::size_t>(available_cores()))));
  pool.run([&](int) {
    for (std::size_t i = next++; i < count && !is_stopped; i = next++) {
      try {
        job(i);
      } catch (...) {
        is_stopped = true;
        throw;
      }
    }
  });
}

}  // namespace winnow::challenge
