#include <algorithm>
#include <thread>

#include "runtime/challenge/ranks/greeting.h"
#include "runtime/challenge/ranks/meeting_sides.h"
#include "runtime/challenge/ranks/packed.h"

namespace winnow::challenge {
namespace {

using Clock = RankLink::Clock;
using namespace std::chrono_literals;

constexpr auto kAnswer = 2s;   // of whoever listens at a port
constexpr auto kGrace = 10s;   // for rank 0 to say who has not come
constexpr auto kLook = 100ms;  // for a request to stop

class Guest {
 public:
  Guest(const RankPlace& place, const std::vector<std::uint16_t>& ports, const RankLimits& limits,
        const std::function<bool()>& should_stop)
      : place_(place),
        ports_(ports),
        limits_(limits),
        should_stop_(should_stop),
        end_(Clock::now() + limits.start) {}

  RankMeeting join() {
    std::unique_ptr<RankLink> link = find();
    const std::optional<RankFrame> frame = await_welcome(*link);
    if (!frame || frame->kind != RankMessage::welcome) {
      fail(ErrorCode::device, rank_name(0, place_.size, ""), " at ", address(),
           link->is_open() ? " says no more" : " has ended before all had come");
    }
    RankMeeting meeting;
    meeting.machines = unpacked_texts(frame->bytes);
    meeting.links.resize(meeting.machines.size());
    meeting.links.at(0) = std::move(link);
    return meeting;
  }

 private:
  std::unique_ptr<RankLink> find() {
    while (Clock::now() < end_) {
      for (const std::uint16_t port : ports_) {
        require_go_on();
        if (auto link = try_at(port)) return link;
      }
      std::this_thread::sleep_for(kLook);
    }
    fail(ErrorCode::device, rank_name(place_.rank, place_.size, machine_name()),
         ": no answer from rank 0 at ", address(), " for ", limits_.start.count(), " s: ", reason_);
  }

  // Null if rank 0 of this run is not there.
  std::unique_ptr<RankLink> try_at(std::uint16_t port) {
    Socket socket = connect_to(place_.host, port, kAnswer, reason_);
    if (!socket.is_open()) return nullptr;
    auto link = std::make_unique<RankLink>(std::move(socket));
    link->send(RankMessage::hello, packed_greeting(place_));
    const std::optional<RankFrame> frame = answer(*link, Clock::now() + kAnswer);
    if (frame && frame->kind == RankMessage::heard) return link;
    reason_ = "another program listens there";
    return nullptr;
  }

  // A request to stop is told, so that rank 0 need not guess.
  std::optional<RankFrame> await_welcome(RankLink& link) {
    try {
      return answer(link, Clock::now() + limits_.start + kGrace);
    } catch (const Error& error) {
      if (should_stop_()) link.send(RankMessage::lost, packed_error(error.code(), error.what()));
      throw;
    }
  }

  // Throws what rank 0 says to be the end.
  std::optional<RankFrame> answer(RankLink& link, Clock::time_point end) {
    while (true) {
      link.receive();
      if (std::optional<RankFrame> frame = link.next()) {
        if (frame->kind == RankMessage::lost) throw unpacked_error(frame->bytes);
        return frame;
      }
      if (!link.is_open() || Clock::now() >= end) return std::nullopt;
      await_input({link.descriptor()}, kLook);
      require_go_on();
    }
  }

  void require_go_on() const {
    if (should_stop_()) fail(ErrorCode::interrupted, "interrupted while it waited for ranks");
  }

  std::string address() const {
    return place_.host + ":" + std::to_string(ports_.front()) +
           (ports_.size() > 1 ? " to " + std::to_string(ports_.back()) : "");
  }

  const RankPlace& place_;
  const std::vector<std::uint16_t>& ports_;
  const RankLimits& limits_;
  const std::function<bool()>& should_stop_;
  Clock::time_point end_;
  std::string reason_;
};

}  // namespace

RankMeeting join_meeting(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                         const RankLimits& limits, const std::function<bool()>& should_stop) {
  return Guest(place, ports, limits, should_stop).join();
}

}  // namespace winnow::challenge
