#include "runtime/challenge/ranks/rank_group.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/base/first_difference.h"
#include "runtime/challenge/ranks/rank_talk.h"

namespace winnow::challenge {
namespace {

using Clock = RankLink::Clock;
using namespace std::chrono_literals;

constexpr auto kLook = 50ms;    // for a request to stop
constexpr auto kSilence = 250;  // milliseconds after which the thread looks who is alive
constexpr auto kFarewell = 2s;  // for the others to take the last message

}  // namespace

class RankGroup::Impl {
 public:
  Impl(const RankPlace& place, const std::vector<std::uint16_t>& ports, const RankLimits& limits,
       ShouldStop should_stop)
      : place_(place),
        should_stop_(std::move(should_stop)),
        talk_(place, limits.silence, meet_ranks(place, ports, limits, should_stop_)),
        wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        watcher_([this] { watch(); }) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      talk_.finish();
      finished_ = Clock::now();
    }
    wake();
    watcher_.join();
  }

  const RankPlace& place() const { return place_; }
  const RankTalk& talk() const { return talk_; }

  std::vector<std::string> gather(const std::string& mine) {
    std::unique_lock lock(mutex_);
    talk_.give(mine);
    if (talk_.has_unsent()) wake();
    while (true) {
      if (auto all = talk_.take_gathered()) return std::move(*all);
      require(lock);
      talk_.require_none_done();
      changed_.wait_for(lock, kLook);
    }
  }

  void require_all(std::chrono::milliseconds patience) {
    const Clock::time_point end = Clock::now() + patience;
    std::unique_lock lock(mutex_);
    require(lock);
    while (Clock::now() < end) {
      changed_.wait_until(lock, end);
      require(lock);
    }
  }

  void leave(ErrorCode code, const std::string& why) {
    const std::lock_guard lock(mutex_);
    talk_.leave(code, why);
  }

 private:
  void require(const std::unique_lock<std::mutex>&) const {
    talk_.require_none_lost();
    if (should_stop_()) {
      fail(ErrorCode::interrupted, "interrupted while it waited for other ranks");
    }
  }

  void wake() const {
    const std::uint64_t one = 1;
    const ssize_t ignored = write(wakeup_.get(), &one, sizeof one);
    static_cast<void>(ignored);
  }

  // The thread, until the others know that this rank is gone.
  void watch() {
    while (true) {
      wait();
      const std::lock_guard lock(mutex_);
      talk_.go_on();
      changed_.notify_all();
      if (!finished_) continue;
      if (!talk_.is_any_open() || Clock::now() - *finished_ > kFarewell) return;
    }
  }

  void wait() {
    std::vector<pollfd> waits = {{.fd = wakeup_.get(), .events = POLLIN, .revents = 0}};
    {
      const std::lock_guard lock(mutex_);
      for (const auto& link : talk_.links()) {
        if (!link || !link->is_open()) continue;
        const auto events = static_cast<short>(link->has_unsent() ? POLLIN | POLLOUT : POLLIN);
        waits.push_back({.fd = link->descriptor(), .events = events, .revents = 0});
      }
    }
    poll(waits.data(), waits.size(), kSilence);
    std::uint64_t count = 0;
    const ssize_t ignored = read(wakeup_.get(), &count, sizeof count);
    static_cast<void>(ignored);
  }

  RankPlace place_;
  ShouldStop should_stop_;
  RankTalk talk_;  // under mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Clock::time_point> finished_;  // under mutex_
  Socket wakeup_;
  std::thread watcher_;
};

RankGroup::RankGroup(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                     const RankLimits& limits, ShouldStop should_stop)
    : impl_(std::make_unique<Impl>(place, ports, limits, std::move(should_stop))) {}
RankGroup::~RankGroup() = default;

std::int64_t RankGroup::rank() const {
  return impl_->place().rank;
}
std::int64_t RankGroup::size() const {
  return impl_->place().size;
}
const std::vector<std::string>& RankGroup::machines() const {
  return impl_->talk().machines();
}
std::string RankGroup::name(std::int64_t rank) const {
  return impl_->talk().name(static_cast<std::size_t>(rank));
}
std::vector<std::string> RankGroup::gather(const std::string& mine) {
  return impl_->gather(mine);
}
void RankGroup::require_all(std::chrono::milliseconds patience) {
  impl_->require_all(patience);
}
void RankGroup::leave(ErrorCode code, const std::string& why) {
  impl_->leave(code, why);
}

void require_equal(RankGroup& group, const std::string& text) {
  const std::vector<std::string> all = group.gather(text);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    fail(ErrorCode::usage, group.name(static_cast<std::int64_t>(rank)),
         " has other work than rank 0: ", first_difference(all[0], all[rank]));
  }
}

}  // namespace winnow::challenge
