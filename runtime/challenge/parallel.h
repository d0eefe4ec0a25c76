// Independent pieces of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace winnow::challenge {

// Calls job(i) for every i in [0, count), on as many threads as there are cores; a thread that is
// done takes the next number. After an exception no new number is begun, and it is rethrown.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& job);

}  // namespace winnow::challenge
