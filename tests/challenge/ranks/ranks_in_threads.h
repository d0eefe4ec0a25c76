// Ranks of one process, each on a thread of its own.
#pragma once

#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/challenge/ranks/rank_group.h"
#include "tests/free_port.h"

namespace winnow::challenge {

inline constexpr RankLimits kPatient = {.silence = std::chrono::seconds(60),
                                        .start = std::chrono::seconds(60)};

inline RankPlace place_of(std::int64_t rank, std::int64_t size, std::uint16_t port) {
  RankPlace place;
  place.rank = place.local_rank = rank;
  place.size = size;
  place.host = "127.0.0.1";
  place.port = port;
  return place;
}

// Calls work(group) as each of `size` ranks and returns what each threw, as a program does that
// tells the others.
inline std::vector<std::optional<Error>> run_ranks(std::int64_t size,
                                                   const std::function<void(RankGroup&)>& work) {
  const std::uint16_t port = free_port();
  std::vector<std::optional<Error>> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (std::int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      std::optional<Error>& error = errors[static_cast<std::size_t>(rank)];
      try {
        RankGroup group(place_of(rank, size, port), {port}, kPatient, [] { return false; });
        try {
          work(group);
        } catch (const Error& thrown) {
          group.leave(thrown.code(), thrown.what());
          throw;
        }
      } catch (const Error& thrown) {
        error = thrown;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace winnow::challenge
