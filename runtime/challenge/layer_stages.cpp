#include "runtime/challenge/layer_stages.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/base/thread_pool.h"

namespace winnow::challenge {
namespace {

struct Task {
  std::uint32_t stage, layer;
};

// Which tasks are done, and which can begin. Any thread may call.
class Tasks {
 public:
  explicit Tasks(const LayerStages& plan)
      : plan_(plan), done_(plan.layers), is_running_(plan.layers) {}

  // Waits for a task; none if no more will come.
  std::optional<Task> take(bool is_caller) {
    std::unique_lock lock(mutex_);
    while (!is_stopped_ && through_ < plan_.layers) {
      if (const std::optional<Task> task = find(is_caller)) {
        is_running_[task->layer] = true;
        return task;
      }
      changed_.wait(lock);
    }
    return std::nullopt;
  }

  void finish(const Task& task) {
    const std::lock_guard lock(mutex_);
    is_running_[task.layer] = false;
    ++done_[task.layer];
    if (task.stage + 1 == plan_.stages) ++through_;
    changed_.notify_all();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::optional<Task> find(bool is_caller) const {
    const std::uint32_t end = std::min(plan_.layers, through_ + plan_.slots() - 1);
    for (std::uint32_t stage = plan_.stages; stage-- > 0;) {
      const bool is_last = stage + 1 == plan_.stages;
      if (is_last && !is_caller) continue;
      for (std::uint32_t l = through_; l < (is_last ? through_ + 1 : end); ++l) {
        if (can_begin(stage, l)) return Task{stage, l};
      }
    }
    return std::nullopt;
  }

  bool can_begin(std::uint32_t stage, std::uint32_t l) const {
    return done_[l] == stage && !is_running_[l] && (l == 0 || done_[l - 1] >= stage) &&
           (l + 1 == plan_.layers || done_[l + 1] >= stage);
  }

  const LayerStages& plan_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> done_;  // [layer]: stages
  std::vector<bool> is_running_;     // [layer]
  std::uint32_t through_ = 0;        // layers that are through all stages
  bool is_stopped_ = false;
};

}  // namespace

std::uint32_t LayerStages::slots() const {
  // Half as many again as there are threads, so that these have work while the calling one, busy
  // with another stage, leaves layers waiting for their last.
  const auto count = static_cast<std::uint32_t>(threads > 0 ? threads : available_cores());
  return count + count / 2 + stages + 2;
}

void LayerStages::run(const Job& job) const {
  Tasks tasks(*this);
  ThreadPool pool(threads);
  const std::uint32_t count = slots();
  pool.run([&](int thread) {
    try {
      while (const std::optional<Task> task = tasks.take(thread == 0)) {
        job(task->stage, task->layer, task->layer % count);
        tasks.finish(*task);
      }
    } catch (...) {
      tasks.stop();
      throw;
    }
  });
}

}  // namespace winnow::challenge
