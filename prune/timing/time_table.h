// The table of times that prune.time_table names.
#pragma once

#include <cstdint>
#include <string>

#include "prune/config/run_config.h"

namespace winnow {

// Which of a table's times are wanted.
struct TimesWanted {
  std::int64_t batch = 0;   // 0: of the only batch size that the table has
  std::int64_t vector = 1;  // output channels that share a mask bit, or as in
                            // trainability.h: kWholeChannels or kMixed
};

// What `runtime tune --table` wrote, in its newest format or an older one. Throws Error{bad_file}
// with file and place if it is none or of a newer format, if a number is missing or out of range or
// if times fall with the density or the channels, and Error{usage} if it has no times of the batch
// or granularity.
TimeModel read_time_table(const std::string& file, const TimesWanted& wanted);

// The configuration with the times that its budget counts; the same for another budget. Throws what
// read_time_table() throws, Error{usage} with the place of the key.
RunConfig with_times(RunConfig config);

}  // namespace winnow
