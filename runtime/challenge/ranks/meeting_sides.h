// The two sides of a meeting of ranks: rank 0 holds it, others join it (rank_meeting.h).
#pragma once

#include "runtime/challenge/ranks/rank_meeting.h"

namespace winnow::challenge {

RankMeeting hold_meeting(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                         const RankLimits& limits, const std::function<bool()>& should_stop);
RankMeeting join_meeting(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                         const RankLimits& limits, const std::function<bool()>& should_stop);

}  // namespace winnow::challenge
