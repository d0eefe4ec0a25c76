// A few threads that run the shares of one job together.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace winnow {

// The caller is one of the threads. Shares are fixed by their number, never stolen, so that which
// thread computes what does not depend on timing. One caller at a time.
class ThreadPool {
 public:
  static constexpr int kMostThreads = 1024;

  // `threads` in all; 0 takes all cores that this process may use.
  // Throws Error{usage} for a negative number or more than kMostThreads.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls job(share) for every share in 0 .. threads() - 1, each on its own thread, and returns
  // when all have returned. Rethrows the exception of the lowest share that threw.
  void run(const std::function<void(int share)>& job);

  // The same with the indices 0 .. count - 1 shared out as ranges of nearly equal length. `floats`
  // is what one index reads or writes: work that takes less than waking a thread stays on the
  // caller's.
  void run_ranges(std::int64_t count, std::int64_t floats,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& job);

 private:
  void work(int share);
  void run_share(int share);

  std::vector<std::thread> workers_;
  const std::function<void(int)>* job_ = nullptr;
  std::vector<std::exception_ptr> errors_;  // by share
  std::atomic<std::uint32_t> round_ = 0;    // counts jobs; workers wait for it to change
  std::atomic<std::uint32_t> pending_ = 0;  // workers still in this job
  bool is_stopping_ = false;
};

// The cores that this process may run on.
int available_cores();

}  // namespace winnow
