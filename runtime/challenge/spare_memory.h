// Objects that are no longer needed, for whoever needs such an object next and can use its memory.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace winnow::challenge {

// Any thread may call.
template <typename T>
class SpareMemory {
 public:
  // An object that was given, holding whatever it held, or a new one.
  T take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    T object = std::move(spare_.back());
    spare_.pop_back();
    return object;
  }
  void give(T object) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(object));
  }

 private:
  std::mutex mutex_;
  std::vector<T> spare_;
};

}  // namespace winnow::challenge
