// How the ranks of a run find each other: rank 0 listens, the others connect to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/rank_place.h"
#include "runtime/challenge/ranks/rank_link.h"

namespace winnow::challenge {

struct RankLimits {
  std::chrono::seconds silence = rank_timeout();      // of a rank that counts as dead then
  std::chrono::seconds start = rank_start_timeout();  // for all ranks to come
};

// Where rank 0 is met: WINNOW_MASTER_PORT; without it the place's port or, where the launcher's
// store takes that (torchrun), the first free one of the eight behind it. Throws Error{usage} if
// the variable is no port.
std::vector<std::uint16_t> meeting_ports(const RankPlace& place,
                                         const Environment& environment = process_environment);

struct RankMeeting {
  std::vector<std::unique_ptr<RankLink>> links;  // by rank; rank 0 has all but its own, others 0's
  std::vector<std::string> machines;             // by rank
};

// "rank 2 of 4 on node7"; without the machine where it is not known.
std::string rank_name(std::int64_t rank, std::int64_t size, const std::string& machine);

// What others are told of the end of a rank: that it was interrupted, or its message.
Error error_of_rank(const std::string& name, const Error& error);

// Returns when all ranks have come. Throws, at each rank that is there, Error{device} naming one
// that has not come in time or has died, Error{usage} if two have come as the same rank or with
// another number of ranks, and Error{interrupted} if `should_stop` says so; at rank 0 also
// Error{usage} if its ports are taken, at others Error{device} if rank 0 does not answer.
RankMeeting meet_ranks(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                       const RankLimits& limits, const std::function<bool()>& should_stop);

}  // namespace winnow::challenge
