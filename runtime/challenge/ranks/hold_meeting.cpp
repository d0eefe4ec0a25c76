#include <thread>

#include "runtime/challenge/ranks/greeting.h"
#include "runtime/challenge/ranks/meeting_sides.h"
#include "runtime/challenge/ranks/packed.h"

namespace winnow::challenge {
namespace {

using Clock = RankLink::Clock;

constexpr std::chrono::milliseconds kLook{100};  // for a request to stop
constexpr std::chrono::seconds kTaken{5};        // after which a port stays taken

class Host {
 public:
  Host(const RankPlace& place, Socket listener) : place_(place), listener_(std::move(listener)) {
    meeting_.links.resize(static_cast<std::size_t>(place.size));
    meeting_.machines.resize(meeting_.links.size());
    meeting_.machines[0] = machine_name();
  }

  bool is_complete() const { return !missing_rank(); }

  void look() {
    await_input(descriptors(), kLook);
    for (Socket socket = accept_from(listener_); socket.is_open();
         socket = accept_from(listener_)) {
      strangers_.push_back(std::make_unique<RankLink>(std::move(socket)));
    }
    for (auto& stranger : strangers_) admit(stranger);
    std::erase_if(strangers_, [](const auto& link) { return !link || !link->is_open(); });
    for (std::size_t rank = 1; rank < meeting_.links.size(); ++rank) require(rank);
  }

  void require_in_time(Clock::time_point start, std::chrono::seconds limit) const {
    const auto missing = missing_rank();
    if (!missing || Clock::now() - start < limit) return;
    fail(ErrorCode::device, rank_name(static_cast<std::int64_t>(*missing), place_.size, ""),
         " has not come for ", limit.count(), " s");
  }

  RankMeeting begin() {
    for (const auto& link : meeting_.links) {
      if (link) link->send(RankMessage::welcome, packed_texts(meeting_.machines));
    }
    return std::move(meeting_);
  }

  void refuse(const Error& error) {
    for (const auto& link : meeting_.links) {
      if (link) tell(*link, error);
    }
  }

 private:
  std::optional<std::size_t> missing_rank() const {
    for (std::size_t rank = 1; rank < meeting_.links.size(); ++rank) {
      if (!meeting_.links[rank]) return rank;
    }
    return std::nullopt;
  }

  std::vector<int> descriptors() const {
    std::vector<int> all = {listener_.get()};
    for (const auto& link : strangers_) all.push_back(link->descriptor());
    for (const auto& link : meeting_.links) {
      if (link) all.push_back(link->descriptor());
    }
    return all;
  }

  // What says something else than a rank of this run is sent away.
  void admit(std::unique_ptr<RankLink>& link) {
    link->receive();
    const std::optional<RankFrame> frame = link->next();
    if (!frame) return;
    const auto greeting =
        frame->kind == RankMessage::hello ? unpacked_greeting(frame->bytes, place_) : std::nullopt;
    if (!greeting) {
      link.reset();
      return;
    }
    try {
      check(*greeting);
    } catch (const Error& error) {
      tell(*link, error);
      throw;
    }
    link->send(RankMessage::heard);
    const auto rank = static_cast<std::size_t>(greeting->rank);
    meeting_.machines[rank] = greeting->machine;
    meeting_.links[rank] = std::move(link);
  }

  void check(const Greeting& greeting) const {
    if (greeting.size != place_.size) {
      fail(ErrorCode::usage, rank_name(greeting.rank, greeting.size, greeting.machine),
           " has come to rank 0 of ", place_.size, ": their launchers' variables differ");
    }
    const auto rank = static_cast<std::size_t>(greeting.rank);
    if (rank > 0 && !meeting_.links[rank]) return;
    fail(ErrorCode::usage, "two processes have come as ",
         rank_name(greeting.rank, greeting.size, meeting_.machines[rank]),
         ": their launcher's variables are not those of ranks");
  }

  void require(std::size_t rank) {
    const auto& link = meeting_.links[rank];
    if (!link) return;
    link->receive();
    const std::string name =
        rank_name(static_cast<std::int64_t>(rank), place_.size, meeting_.machines[rank]);
    if (const auto frame = link->next(); frame && frame->kind == RankMessage::lost) {
      throw error_of_rank(name, unpacked_error(frame->bytes));
    }
    if (!link->is_open()) fail(ErrorCode::device, name, " has ended before all had come");
  }

  static void tell(RankLink& link, const Error& error) {
    link.send(RankMessage::lost, packed_error(error.code(), error.what()));
    link.finish();
  }

  const RankPlace& place_;
  Socket listener_;
  std::vector<std::unique_ptr<RankLink>> strangers_;
  RankMeeting meeting_;
};

// Another rank that looks for rank 0 may have the port for a moment: the system gives it one to
// connect from.
Socket patient_listener(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                        const std::function<bool()>& should_stop) {
  const Clock::time_point end = Clock::now() + kTaken;
  while (true) {
    try {
      return listen_at(place.host, ports);
    } catch (const Error&) {
      if (Clock::now() >= end || should_stop()) throw;
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

RankMeeting hold_meeting(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                         const RankLimits& limits, const std::function<bool()>& should_stop) {
  Host host(place, patient_listener(place, ports, should_stop));
  const Clock::time_point start = Clock::now();
  try {
    while (!host.is_complete()) {
      host.look();
      if (should_stop()) fail(ErrorCode::interrupted, "interrupted while it waited for ranks");
      host.require_in_time(start, limits.start);
    }
    return host.begin();
  } catch (const Error& error) {
    const std::string own = rank_name(0, place.size, machine_name());
    host.refuse(error.code() == ErrorCode::interrupted ? error_of_rank(own, error) : error);
    throw;
  }
}

}  // namespace winnow::challenge
