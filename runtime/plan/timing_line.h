// The file format of the cache of timings: one entry a line, as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/plan/timing.h"

namespace winnow {

struct TimingEntry {
  TimingPlace place;
  std::string key;  // the work: step or conversion, kernel, formats
  Timing timing;

  friend bool operator==(const TimingEntry&, const TimingEntry&) = default;
};

// Longer lines are none of ours.
inline constexpr std::size_t kMostTimingLineBytes = std::size_t{1} << 18;

// {"device": "...", "software": "...", "key": "...", "median_ms": 0.5, "min_ms": 0.4, "runs": 7,
//  "cold_ms": 0.6, "clock_mhz": 1980}
// without line end. What is not known is left out. A rejected kernel has "rejected" and no times,
// what was chosen for a network "kernels" instead: [[slot, "name"], ...] by step.
// Numbers are read back with all their bits.
std::string line_of(const TimingEntry& entry);

// Nothing unless the line is an entry: JSON of these fields with these types, times that are finite
// and not negative, a number of runs.
std::optional<TimingEntry> entry_of(std::string_view line);

}  // namespace winnow
