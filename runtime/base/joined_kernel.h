// Names of kernels that run nothing: a later step computes theirs on its way, in its launch on a
// GPU or its run on a CPU, and has the time of both.
#pragma once

#include <string>
#include <string_view>

namespace winnow {

inline constexpr std::string_view kInLaunch = ", in the launch of ";
inline constexpr std::string_view kInRun = ", in the run of ";

// "gathered, in the launch of pool1": `step` is the later one.
inline std::string in_launch_of(const std::string& family, const std::string& step) {
  return family + std::string(kInLaunch) + step;
}
inline std::string in_run_of(const std::string& family, const std::string& step) {
  return family + std::string(kInRun) + step;
}

// Whether a kernel of this name and time has none of its own, so that it says nothing of how fast
// its family is.
inline bool is_timed_later(std::string_view kernel, double ms) {
  const bool is_joined = kernel.find(kInLaunch) != std::string_view::npos ||
                         kernel.find(kInRun) != std::string_view::npos;
  return is_joined && ms == 0;
}

}  // namespace winnow
