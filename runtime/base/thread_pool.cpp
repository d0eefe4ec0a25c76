#include "runtime/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// Layers follow each other within microseconds; a thread that slept would wake up too late.
constexpr int kSpins = 2000;  // some 30 to 100 us

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != value) return;
    pause_briefly();
  }
  word.wait(value, std::memory_order_acquire);
}

}  // namespace

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) {
  if (threads < 0 || threads > kMostThreads) {
    fail(ErrorCode::usage, "threads is ", threads, ", expected 0 to ", kMostThreads);
  }
  const int count = threads == 0 ? available_cores() : threads;
  errors_.resize(count);
  for (int share = 1; share < count; ++share) workers_.emplace_back([this, share] { work(share); });
}

ThreadPool::~ThreadPool() {
  is_stopping_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const std::function<void(int)>& job) {
  job_ = &job;
  pending_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  if (!workers_.empty()) round_.notify_all();
  run_share(0);
  for (std::uint32_t left = pending_.load(std::memory_order_acquire); left != 0;
       left = pending_.load(std::memory_order_acquire)) {
    wait_while(pending_, left);
  }
  for (std::exception_ptr& error : errors_) {
    if (!error) continue;
    const std::exception_ptr first = std::exchange(error, nullptr);
    std::fill(errors_.begin(), errors_.end(), nullptr);
    std::rethrow_exception(first);
  }
}

void ThreadPool::run_ranges(std::int64_t count, std::int64_t floats,
                            const std::function<void(std::int64_t, std::int64_t)>& job) {
  constexpr std::int64_t kSmallWork = 16384;  // floats; a few microseconds
  if (count * floats < kSmallWork) {
    if (count > 0) job(0, count);
    return;
  }
  const std::int64_t shares = threads();
  run([&](int share) {
    const std::int64_t length = count / shares, rest = count % shares;
    const std::int64_t begin = share * length + std::min<std::int64_t>(share, rest);
    const std::int64_t end = begin + length + (share < rest ? 1 : 0);
    if (begin < end) job(begin, end);
  });
}

void ThreadPool::run_share(int share) {
  try {
    (*job_)(share);
  } catch (...) {
    errors_[share] = std::current_exception();
  }
}

void ThreadPool::work(int share) {
  for (std::uint32_t round = 0;;) {
    wait_while(round_, round);
    round = round_.load(std::memory_order_acquire);
    if (is_stopping_) return;
    run_share(share);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

}  // namespace winnow
