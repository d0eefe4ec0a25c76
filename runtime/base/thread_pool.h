// A few threads that run the parts of one job together.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace winnow {

// The caller is one of the threads. Parts are fixed by their number, never stolen, so that which
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

  // Calls job(part) for every part in 0 .. threads() - 1, each on its own thread, and returns when
  // all have returned. Rethrows the exception of the lowest part that threw.
  void run(const std::function<void(int part)>& job);

  // The same for count items in contiguous ranges of nearly equal length. `item_floats` is what
  // an item reads or writes: work that takes less than waking a thread stays on the caller's.
  void run_ranges(std::int64_t count, std::int64_t item_floats,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& job);

 private:
  void work(int part);
  void run_part(int part);

  std::vector<std::thread> workers_;
  const std::function<void(int)>* job_ = nullptr;
  std::vector<std::exception_ptr> errors_;  // by part
  std::atomic<std::uint32_t> round_ = 0;    // counts jobs; workers wait for it to change
  std::atomic<std::uint32_t> pending_ = 0;  // workers still in this job
  bool is_stopping_ = false;
};

// The cores that this process may run on.
int available_cores();

}  // namespace winnow
