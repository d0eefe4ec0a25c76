// What a rank says when it comes to rank 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/rank_place.h"

namespace winnow::challenge {

struct Greeting {
  std::int64_t rank = 0;
  std::int64_t size = 0;
  std::string machine;
};

// It tells runs apart that one machine holds at the same time, and starts of one run.
std::string packed_greeting(const RankPlace& place);

// Nothing if the bytes are no greeting, or one of another run.
std::optional<Greeting> unpacked_greeting(const std::string& bytes, const RankPlace& place);

}  // namespace winnow::challenge
