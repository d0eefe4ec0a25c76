#include "runtime/challenge/ranks/rank_meeting.h"

#include "runtime/base/suggest.h"
#include "runtime/challenge/ranks/meeting_sides.h"

namespace winnow::challenge {
namespace {

constexpr int kOwnPorts = 8;

}  // namespace

std::vector<std::uint16_t> meeting_ports(const RankPlace& place, const Environment& environment) {
  if (const auto own = environment_number(environment, "WINNOW_MASTER_PORT", 1, 65535)) {
    return {static_cast<std::uint16_t>(*own)};
  }
  if (!place.has_store) return {place.port};
  std::vector<std::uint16_t> ports;
  for (int i = 1; i <= kOwnPorts; ++i) {
    const int port = place.port + i;
    ports.push_back(static_cast<std::uint16_t>(port <= 65535 ? port : place.port - i));
  }
  return ports;
}

std::string rank_name(std::int64_t rank, std::int64_t size, const std::string& machine) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(size) +
         (machine.empty() ? "" : " on " + one_line(machine));
}

Error error_of_rank(const std::string& name, const Error& error) {
  if (error.code() == ErrorCode::interrupted) {
    return {ErrorCode::interrupted, name + " was interrupted"};
  }
  return {ErrorCode::device, name + ": " + error.what()};
}

RankMeeting meet_ranks(const RankPlace& place, const std::vector<std::uint16_t>& ports,
                       const RankLimits& limits, const std::function<bool()>& should_stop) {
  if (place.rank > 0) return join_meeting(place, ports, limits, should_stop);
  return hold_meeting(place, ports, limits, should_stop);
}

}  // namespace winnow::challenge
