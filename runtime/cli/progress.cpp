#include "runtime/cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace winnow {
namespace {

constexpr double kTerminalInterval = 0.2;  // seconds between lines
constexpr double kPlainInterval = 10.0;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::string format_duration(double seconds) {
  char text[32];
  if (seconds < 60) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
  }
  const auto total = static_cast<long long>(std::llround(seconds));
  if (total < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", total / 60, total % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", total / 3600, total / 60 % 60,
                  total % 60);
  }
  return text;
}

std::function<void(std::size_t, std::size_t)> progress_callback(std::string label, bool is_quiet) {
  auto shown = std::make_shared<std::optional<Progress>>();
  return [shown, label = std::move(label), is_quiet](std::size_t done, std::size_t total) {
    if (!*shown) shown->emplace(label, static_cast<std::int64_t>(total), is_quiet);
    (*shown)->update(static_cast<std::int64_t>(done));
    if (done == total) shown->reset();
  };
}

Progress::Progress(std::string label, std::int64_t total, bool is_quiet)
    : label_(std::move(label)),
      total_(total),
      is_quiet_(is_quiet),
      is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (has_open_line_) std::fputc('\n', stderr);
}

void Progress::update(std::int64_t done, const std::string& note) {
  if (is_quiet_) return;
  if (first_ < 0) first_ = done > 0 ? done - 1 : 0;
  done_ = done;
  const auto now = Clock::now();
  const double interval = is_terminal_ ? kTerminalInterval : kPlainInterval;
  const bool is_due = printed_ == Clock::time_point{} || seconds_between(printed_, now) >= interval;
  if (!is_due && done < total_) return;
  printed_ = now;
  if (is_terminal_) {
    std::fprintf(stderr, "\r\033[K%s", line(note).c_str());
    has_open_line_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line(note).c_str());
  }
  std::fflush(stderr);
}

std::string Progress::line(const std::string& note) const {
  const double elapsed = seconds_between(start_, Clock::now());
  const auto worked = static_cast<double>(done_ - first_);
  std::string text = label_ + " " + std::to_string(done_) + "/" + std::to_string(total_);
  if (!note.empty()) text += "  " + note;
  text += "  " + format_duration(elapsed);
  if (worked > 0 && done_ < total_) {
    text += ", left " + format_duration(elapsed / worked * static_cast<double>(total_ - done_));
  }
  return text;
}

}  // namespace winnow
