#include "prune/training/rank_store.h"

#include <c10/util/Flags.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "runtime/base/suggest.h"

C10_DECLARE_int(caffe2_log_level);

namespace winnow {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kBeat = 1s;
constexpr auto kJoin = 300s;  // for all ranks to come
constexpr auto kFarewell = 10s;

std::string numbered(const char* name, std::int64_t rank) {
  return name + std::to_string(rank);
}

std::string machine_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "a machine without a name";
}

std::string address(const RankPlace& place) {
  return place.host + ":" + std::to_string(place.port);
}

c10::intrusive_ptr<c10d::Store> connect(const RankPlace& place) {
  FLAGS_caffe2_log_level =
      3;  // what goes wrong is told by our errors, not by logs with stack traces
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = place.rank == 0 && !place.has_store;
  options.waitWorkers = false;
  options.timeout = std::chrono::milliseconds(kJoin);
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
    return c10::make_intrusive<c10d::PrefixStore>("winnow" + place.start, std::move(store));
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (text.find("EADDRINUSE") != std::string::npos) {
      fail(ErrorCode::usage, "rank 0: port ", place.port,
           " is in use; MASTER_PORT names another one");
    }
    fail(ErrorCode::device, "rank ", place.rank, ": no answer from rank 0 at ", address(place));
  }
}

}  // namespace

class RankStore::Impl {
 public:
  Impl(const RankPlace& place, std::chrono::seconds timeout)
      : place_(place), timeout_(timeout), store_(connect(place)) {
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
    } catch (const Error&) {
      throw;
    } catch (const std::exception&) {
      is_broken_ = true;
      fail(ErrorCode::device, "rank 0 at ", address(place_), " does not answer any more");
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
        for (std::int64_t rank = 0; rank < place_.size; ++rank) require_alive(rank);
        look = Clock::now() + kBeat;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 3 / 2, 5000us);
    }
  }

  void require_alive(std::int64_t rank) {
    if (rank == place_.rank) return;
    ask([&] {
      if (store_->check({numbered("left", rank)})) throw_farewell(rank);
      const std::int64_t beats = store_->add(numbered("beat", rank), 0);
      const auto index = static_cast<std::size_t>(rank);
      if (beats != beats_[index]) heard_[index] = Clock::now();
      beats_[index] = beats;
      const auto limit = beats == 0 ? std::max<std::chrono::seconds>(kJoin, timeout_) : timeout_;
      if (Clock::now() - heard_[index] < limit) return;
      is_broken_ = true;
      fail(ErrorCode::device, name(rank),
           beats == 0 ? " has not come for " : " has been silent for ", limit.count(), " s",
           beats == 0 ? "" : ": it has died or its machine is gone");
    });
  }

  [[noreturn]] void throw_farewell(std::int64_t rank) {
    is_broken_ = true;
    const std::string farewell = read(numbered("left", rank));
    const std::size_t space = farewell.find(' ');
    const std::string why = space == std::string::npos ? "" : farewell.substr(space + 1);
    if (farewell.starts_with("130 ")) {
      fail(ErrorCode::interrupted, name(rank), " was interrupted");
    }
    fail(ErrorCode::device, name(rank), why.empty() ? " has ended before the others" : ": ", why);
  }

  std::string name(std::int64_t rank) const {
    const std::string machine = numbered("machine", rank);
    const std::string of = store_->check({machine}) ? " on " + one_line(read(machine)) : "";
    return "rank " + std::to_string(rank) + of;
  }

  void beat(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wakeup;
    std::unique_lock lock(mutex);
    try {
      while (!stop.stop_requested()) {
        store_->add(numbered("beat", place_.rank), 1);
        wakeup.wait_for(lock, stop, kBeat, [] { return false; });
      }
    } catch (const std::exception&) {
      // The other thread finds out for itself.
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
  std::jthread pulse_;
};

std::chrono::seconds RankStore::timeout(const Environment& environment) {
  const std::string text = environment("WINNOW_RANK_TIMEOUT").value_or("60");
  std::istringstream in(text);
  std::int64_t seconds = 0;
  if (!(in >> seconds) || !in.eof() || seconds < 2 || seconds > 86400) {
    fail(ErrorCode::usage, "environment: WINNOW_RANK_TIMEOUT: found ", in_quotes(text),
         ", expected seconds from 2 to 86400");
  }
  return std::chrono::seconds(seconds);
}

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
void RankStore::leave(ErrorCode code, const std::string& why) {
  impl_->leave(code, why);
}
bool RankStore::is_broken() const {
  return impl_->is_broken();
}

}  // namespace winnow
