// How long a kernel takes, as it was measured.
#pragma once

#include <string>
#include <vector>

namespace winnow {

// Which of its candidates runs a step.
struct ChosenKernel {
  int slot = 0;             // the candidate's place among those of its step
  std::string kernel = "";  // its name, so that another in its place is noticed; empty: the step
                            // runs in whatever layout its neighbours do

  friend bool operator==(const ChosenKernel&, const ChosenKernel&) = default;
};

// An entry of a table of times: that of a kernel or conversion, of a whole network, or what was
// chosen for a network.
struct Timing {
  double median_ms = 0;
  double min_ms = 0;
  int runs = 0;          // that were timed; 0: none, it is rejected or takes no time
  double cold_ms = 0;    // the median where caches were emptied before each run; 0: not measured
  double clock_mhz = 0;  // of the device, 0: not known

  // Why it may never be chosen, in one line: its result was wrong, or a library refused to run it.
  // Empty for all others.
  std::string rejected;

  std::vector<ChosenKernel> kernels;  // by step: what was chosen; then it has no times

  friend bool operator==(const Timing&, const Timing&) = default;
};

// Of the times of single runs, at least one.
Timing timing_of(const std::vector<double>& ms);

Timing rejected_for(std::string reason);

// What times depend on besides the work. Entries of one place do not count in another.
struct TimingPlace {
  std::string device;    // "cpu (Intel Xeon ..., 2 threads, avx512)", "NVIDIA H200, sm_90, ..."
  std::string software;  // driver, libraries and this program, with their versions

  friend bool operator==(const TimingPlace&, const TimingPlace&) = default;
};

// "winnow 0.1.0 timings 1": for TimingPlace::software. The last number is raised where kernels
// change what they take, or entries what they mean, without a name of theirs that tells.
std::string timing_version();

}  // namespace winnow
