// The ranks of a run of the challenge: who they are, who is alive, what they tell each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/challenge/ranks/rank_meeting.h"

namespace winnow::challenge {

// Every rank has a TCP connection with rank 0, which a thread of its own watches: the end of a
// rank's process ends its connection, a machine that is gone is silent. Rank 0 tells the others.
class RankGroup {
 public:
  using ShouldStop = std::function<bool()>;

  // Meets the others, and throws as meet_ranks() does. `should_stop` is asked while ranks wait for
  // each other.
  RankGroup(const RankPlace& place, const std::vector<std::uint16_t>& ports,
            const RankLimits& limits, ShouldStop should_stop);
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;
  // Tells the others that this rank is done, unless leave() has.
  ~RankGroup();

  std::int64_t rank() const;
  std::int64_t size() const;
  const std::vector<std::string>& machines() const;  // by rank
  std::string name(std::int64_t rank) const;         // "rank 2 of 4 on node7"

  // What all ranks give, by rank, at each; waits for all. All ranks make the same calls in the same
  // order, one thread at a time. Throws Error{device} with the name of a rank that has died or
  // failed (with its message), or has ended before it gave its part, and Error{interrupted} if one
  // was interrupted or should stop.
  std::vector<std::string> gather(const std::string& mine);

  // Throws what gather() would throw, without waiting, or if nothing is wrong within `patience`
  // returns then. For ranks that wait in something else. Any thread may call.
  void require_all(std::chrono::milliseconds patience = std::chrono::milliseconds(0));

  // Tells the others, once, why this rank ends; they end too when they next wait or ask.
  void leave(ErrorCode code, const std::string& why);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Throws Error{usage} at all ranks, with the name of one whose text differs from rank 0's and the
// first line in which it does.
void require_equal(RankGroup& group, const std::string& text);

}  // namespace winnow::challenge
