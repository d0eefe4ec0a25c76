// What the ranks of a run say to each other, without threads and waiting.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/challenge/ranks/rank_meeting.h"

namespace winnow::challenge {

// One thread at a time calls it.
class RankTalk {
 public:
  RankTalk(const RankPlace& place, std::chrono::seconds silence, RankMeeting meeting);

  std::string name(std::size_t rank) const;
  const std::vector<std::string>& machines() const { return meeting_.machines; }
  const std::vector<std::unique_ptr<RankLink>>& links() const { return meeting_.links; }
  bool has_unsent() const;
  bool is_any_open() const;

  // This rank's part of a gathering, and what all gave, once their parts are there.
  void give(const std::string& part);
  std::optional<std::vector<std::string>> take_gathered();

  // Reads and answers what the others say, says that this rank is alive, and notices who is not.
  // What goes wrong is kept for require_none_lost().
  void go_on();

  // Throws why the run ends, if it does.
  void require_none_lost() const;
  // Throws Error{device} if a rank is done that has not given its part.
  void require_none_done() const;

  // The last message, once: why this rank ends, or that it is done. Nothing after another's loss.
  void leave(ErrorCode code, const std::string& why);
  void finish();

 private:
  bool is_first() const { return place_.rank == 0; }
  void say(RankMessage kind, const std::string& bytes) const;
  void say_last(RankMessage kind, const std::string& bytes);
  void take_part(std::size_t rank, const std::string& bytes);
  void hear(std::size_t rank);
  void take(std::size_t rank, const RankFrame& frame);
  void keep_alive(std::size_t rank);
  void lose(const Error& error);

  RankPlace place_;
  std::chrono::seconds silence_;
  RankMeeting meeting_;
  RankLink::Clock::time_point start_ = RankLink::Clock::now();
  std::vector<std::optional<std::string>> parts_;  // rank 0's: of the gathering that goes on
  std::deque<std::vector<std::string>> gathered_;
  std::vector<bool> is_done_;  // by rank
  std::vector<bool> is_gone_;  // whose last word was heard; it may have come before this began
  std::optional<Error> lost_;
  bool has_said_last_ = false, is_finished_ = false;
};

}  // namespace winnow::challenge
