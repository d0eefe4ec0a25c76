// Progress of long work on stderr: units done, rate, time left.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace winnow {

// On a terminal one line is rewritten in place; elsewhere a plain line appears every ten seconds.
// With `is_quiet` nothing is printed.
class Progress {
 public:
  // "train: epoch": what is done and the unit that is counted.
  Progress(std::string label, std::int64_t total, bool is_quiet = false);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `note` is shown behind the counts: "loss 0.31, accuracy 91.2 %".
  void update(std::int64_t done, const std::string& note = "");

 private:
  using Clock = std::chrono::steady_clock;

  std::string line(const std::string& note) const;

  std::string label_;
  std::int64_t total_;
  bool is_quiet_;
  bool is_terminal_;
  bool has_open_line_ = false;
  std::int64_t done_ = 0;
  std::int64_t first_ = -1;  // units already done when the first update came (resumed work)
  Clock::time_point start_ = Clock::now();
  Clock::time_point printed_;
};

// A progress that begins with the first call and ends with the last one, done == total, for work
// that tells `done` and `total` by itself.
std::function<void(std::size_t done, std::size_t total)> progress_callback(std::string label,
                                                                           bool is_quiet);

// "1:02:03", "2:03" or "4.2 s".
std::string format_duration(double seconds);

}  // namespace winnow
