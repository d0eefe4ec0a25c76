#include "prune/training/ranks/rank_store.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "prune/training/ranks/store_connection.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kBeat = 1s;
constexpr auto kJoin = 300s;  // for all ranks to come
constexpr auto kFarewell = 10s;
constexpr auto kGrace = 5s;

std::string numbered(const char* name, std::int64_t rank) {
  return name + std::to_string(rank);
}

}  // namespace

class RankStore::Impl {
 public:
  Impl(const RankPlace& place, std::chrono::seconds timeout)
      : place_(place),
        timeout_(timeout),
        store_(connect_store(place, place.rank == 0 && !place.has_store)) {
    const auto size = static_cast<std::size_t>(place.size);
    beats_.assign(size, 0);
    heard_.assign(size, Clock::now());
    put(numbered("machine", place.rank), machine_name());
    pulse_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
  }

  ~Impl() {
    pulse_.request_stop();
    pulse_ = {};
    try {
      leave(ErrorCode::internal, "");
      if (place_.rank == 0 && !place_.has_store) await_farewells();
    } catch (const std::exception&) {
      // As in leave().
    }
  }

  const RankPlace& place() const { return place_; }
  bool is_broken() const { return is_broken_; }

  template <typename Work>
  auto ask(const Work& work) {
    try {
      return work();
    } catch (const std::exception&) {
      is_broken_ = true;
      throw no_answer();
    }
  }

  void put(const std::string& key, const std::string& bytes) {
    ask([&] { store_->set(key, std::vector<std::uint8_t>(bytes.begin(), bytes.end())); });
  }
  void drop(const std::string& key) {
    ask([&] { store_->deleteKey(key); });
  }
  void count(const std::string& key) {
    ask([&] { store_->add(key, 1); });
  }

  std::string take(const std::string& key) {
    wait_until([&] { return store_->check({key}); });
    return ask([&] { return read(key); });
  }
  void wait_for_count(const std::string& key, std::int64_t least) {
    wait_until([&] { return store_->add(key, 0) >= least; });
  }
  std::int64_t counted(const std::string& key) {
    return ask([&] { return store_->add(key, 0); });
  }

  void when_lost(std::function<void()> call) {
    const std::lock_guard lock(calling_);
    when_lost_ = std::move(call);
    if (is_lost() && when_lost_) when_lost_();
  }

  void stop_if(std::function<bool()> should_stop) {
    const std::lock_guard lock(mutex_);
    should_stop_ = std::move(should_stop);
  }

  void require_all() {
    const std::lock_guard lock(mutex_);
    if (lost_) throw Error(*lost_);
  }

  // The thread that watches needs at most the timeout and the beat in which the rank died.
  void await_loss() {
    const Clock::time_point end = Clock::now() + timeout_ + 3 * kBeat;
    while (Clock::now() < end) {
      require_all();
      require_none_ended();
      std::this_thread::sleep_for(20ms);
    }
  }

  // Without a message the rank has come to its end.
  void leave(ErrorCode code, const std::string& why) {
    if (has_left_) return;
    has_left_ = true;
    try {
      put(numbered("left", place_.rank), std::to_string(static_cast<int>(code)) + " " + why);
    } catch (const std::exception&) {
      // The store is gone, and with it whoever could be told.
    }
  }

 private:
  std::string read(const std::string& key) const {
    const std::vector<std::uint8_t> bytes = store_->get(key);
    return {bytes.begin(), bytes.end()};
  }

  template <typename Condition>
  void wait_until(const Condition& condition) {
    auto pause = 200us;
    Clock::time_point look = Clock::now() + kBeat;
    while (!ask(condition)) {
      if (Clock::now() >= look) {
        require_all();
        require_none_ended();
        look = Clock::now() + kBeat;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 3 / 2, 5000us);
    }
  }

  Error no_answer() const {
    return {ErrorCode::device, "rank 0 at " + address(place_) + " does not answer any more"};
  }

  // What the thread that watches calls: a rank that was interrupted, has failed or is silent. One
  // that has come to its end is missed only by those who wait for it.
  void look_at(std::int64_t rank) {
    if (rank == place_.rank) return;
    if (store_->check({numbered("left", rank)})) {
      const std::string farewell = read(numbered("left", rank));
      if (!is_end(farewell)) lose(told(rank, farewell));
      return;
    }
    const std::int64_t beats = store_->add(numbered("beat", rank), 0);
    const auto index = static_cast<std::size_t>(rank);
    if (beats != beats_[index]) heard_[index] = Clock::now();
    beats_[index] = beats;
    const auto limit = beats == 0 ? std::max<std::chrono::seconds>(kJoin, timeout_) : timeout_;
    if (Clock::now() - heard_[index] < limit) return;
    const std::string since = std::to_string(limit.count()) + " s";
    lose({ErrorCode::device,
          name(rank) + (beats == 0 ? " has not come for " + since
                                   : " has been silent for " + since +
                                         ": it has died or its machine is gone")});
  }

  bool is_lost() {
    const std::lock_guard lock(mutex_);
    return lost_.has_value();
  }

  // Who is asked to stop and has not ended is waiting for another rank, or has much to save.
  void look_for_stop() {
    {
      const std::lock_guard lock(mutex_);
      if (!should_stop_ || !should_stop_()) return;
    }
    if (!asked_) asked_ = Clock::now();
    if (Clock::now() - *asked_ < kGrace) return;
    lose({ErrorCode::interrupted, "interrupted while it waited for other ranks"});
  }

  void lose(const Error& error) {
    if (is_lost()) return;
    {
      const std::lock_guard lock(mutex_);
      lost_ = error;
    }
    is_broken_ = true;
    const std::lock_guard lock(calling_);  // it may take long: others only want to know
    if (when_lost_) when_lost_();
  }

  // "CODE WHY"; no reason at the end of a run.
  static bool is_end(const std::string& farewell) {
    return farewell.substr(0, farewell.find(' ') + 1) == farewell;
  }

  Error told(std::int64_t rank, const std::string& farewell) const {
    if (farewell.starts_with("130 ")) {
      return {ErrorCode::interrupted, name(rank) + " was interrupted"};
    }
    const std::string why = farewell.substr(farewell.find(' ') + 1);
    // It ended because of another rank, and says which.
    return {ErrorCode::device, why.starts_with("rank ") ? why : name(rank) + ": " + why};
  }

  // Who has given a reason is the cause; others may have come to their end because of it.
  void require_none_ended() {
    std::optional<std::int64_t> ended;
    for (std::int64_t rank = 0; rank < place_.size; ++rank) {
      const std::string key = numbered("left", rank);
      if (rank == place_.rank || !ask([&] { return store_->check({key}); })) continue;
      is_broken_ = true;
      const std::string farewell = ask([&] { return read(key); });
      if (!is_end(farewell)) throw told(rank, farewell);
      if (!ended) ended = rank;
    }
    if (ended) fail(ErrorCode::device, name(*ended), " has ended before the others");
  }

  std::string name(std::int64_t rank) const {
    const std::string machine = numbered("machine", rank);
    const std::string of = store_->check({machine}) ? " on " + one_line(read(machine)) : "";
    return "rank " + std::to_string(rank) + of;
  }

  // Says that this rank is alive, and hears who else is.
  void beat(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wakeup;
    std::unique_lock lock(mutex);
    try {
      while (!stop.stop_requested()) {
        store_->add(numbered("beat", place_.rank), 1);
        for (std::int64_t rank = 0; rank < place_.size; ++rank) look_at(rank);
        look_for_stop();
        wakeup.wait_for(lock, stop, kBeat, [] { return false; });
      }
    } catch (const std::exception&) {
      if (!stop.stop_requested()) lose(no_answer());
    }
  }

  void await_farewells() {
    const Clock::time_point end = Clock::now() + kFarewell;
    for (std::int64_t rank = 1; rank < place_.size; ++rank) {
      while (!store_->check({numbered("left", rank)}) && Clock::now() < end) {
        std::this_thread::sleep_for(5ms);
      }
    }
  }

  RankPlace place_;
  std::chrono::seconds timeout_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::vector<std::int64_t> beats_;       // by rank
  std::vector<Clock::time_point> heard_;  // when they last changed
  std::atomic<bool> is_broken_ = false;
  bool has_left_ = false;
  std::mutex mutex_;
  std::optional<Error> lost_;  // under mutex_
  std::function<bool()> should_stop_;
  std::optional<Clock::time_point> asked_;  // when it first said so; of the thread that watches
  std::mutex calling_;
  std::function<void()> when_lost_;  // under calling_
  std::jthread pulse_;
};

RankStore::RankStore(const RankPlace& place, std::chrono::seconds timeout)
    : impl_(std::make_unique<Impl>(place, timeout)) {}
RankStore::~RankStore() = default;

const RankPlace& RankStore::place() const {
  return impl_->place();
}
void RankStore::put(const std::string& key, const std::string& bytes) {
  impl_->put(key, bytes);
}
void RankStore::drop(const std::string& key) {
  impl_->drop(key);
}
void RankStore::count(const std::string& key) {
  impl_->count(key);
}
std::string RankStore::take(const std::string& key) {
  return impl_->take(key);
}
void RankStore::wait_for_count(const std::string& key, std::int64_t least) {
  impl_->wait_for_count(key, least);
}
std::int64_t RankStore::counted(const std::string& key) {
  return impl_->counted(key);
}
void RankStore::when_lost(std::function<void()> call) {
  impl_->when_lost(std::move(call));
}
void RankStore::stop_if(std::function<bool()> should_stop) {
  impl_->stop_if(std::move(should_stop));
}
void RankStore::require_all() {
  impl_->require_all();
}
void RankStore::await_loss() {
  impl_->await_loss();
}
void RankStore::leave(ErrorCode code, const std::string& why) {
  impl_->leave(code, why);
}
bool RankStore::is_broken() const {
  return impl_->is_broken();
}

}  // namespace winnow
