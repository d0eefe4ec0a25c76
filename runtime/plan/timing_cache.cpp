#include "runtime/plan/timing_cache.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/line_file.h"

namespace winnow {
namespace {

constexpr std::size_t kReadable = 4;       // files of up to so many times the limit are read
constexpr std::size_t kSpareLines = 1000;  // superseded ones that a rewrite is not worth

std::string name_of(const TimingPlace& place) {
  return place.device + "\n" + place.software;
}

std::string name_of(const TimingPlace& place, const std::string& key) {
  return name_of(place) + "\n" + key;
}

// Calls `use` with every line but empty ones, its number from 1 on and whether it has an end.
void for_each_line(std::string_view text,
                   const std::function<void(std::string_view, std::size_t, bool)>& use) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const bool is_ended = end != std::string_view::npos;
    const std::string_view line = text.substr(at, is_ended ? end - at : end);
    ++number;
    if (!line.empty()) use(line, number, is_ended);
    at += line.size() + 1;
  }
}

// The last entry of each key, in the order of the file; of more than `most_bytes` the last ones.
std::string condensed(const std::string& text, std::size_t most_bytes) {
  std::vector<std::string_view> lines;
  for_each_line(text, [&](std::string_view line, std::size_t, bool) { lines.push_back(line); });
  std::set<std::string> known;
  std::vector<std::string_view> kept;
  std::size_t bytes = 0;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto entry = entry_of(*line);
    if (!entry || !known.insert(name_of(entry->place, entry->key)).second) continue;
    bytes += line->size() + 1;
    if (bytes > most_bytes) break;
    kept.push_back(*line);
  }
  std::string result;
  for (auto line = kept.rbegin(); line != kept.rend(); ++line) result.append(*line).append("\n");
  return result;
}

}  // namespace

TimingCache::TimingCache(std::string folder, std::size_t most_bytes)
    : folder_(std::move(folder)),
      path_((std::filesystem::path(folder_) / kFileName).string()),
      most_bytes_(most_bytes) {
  try {
    read();
  } catch (const Error& error) {
    read_problem_ = error.what();
  }
}

void TimingCache::read() {
  std::error_code missing;
  const auto status = std::filesystem::status(path_, missing);
  const bool is_missing = status.type() == std::filesystem::file_type::not_found;
  if (is_missing && !std::filesystem::exists(folder_, missing)) return;
  if (is_missing && std::filesystem::is_directory(folder_, missing)) return;
  read_lines(read_text_file(path_, kReadable * most_bytes_));
}

void TimingCache::read_lines(const std::string& text) {
  bytes_ = text.size();
  for_each_line(text, [&](std::string_view line, std::size_t number, bool is_ended) {
    ++lines_;
    if (auto entry = entry_of(line)) {
      ++in_file_[name_of(entry->place)];
      timings_[name_of(entry->place, entry->key)] = std::move(entry->timing);
      return;
    }
    is_damaged_ = true;
    if (is_ended && ++bad_lines_ == 1) first_bad_line_ = number;
  });
}

std::optional<Timing> TimingCache::find(const TimingPlace& place, const std::string& key) const {
  const std::lock_guard guard(mutex_);
  was_asked_.emplace(name_of(place), in_file_.contains(name_of(place)));
  const auto found = timings_.find(name_of(place, key));
  return found == timings_.end() ? std::nullopt : std::optional(found->second);
}

void TimingCache::keep(const TimingPlace& place, const std::string& key, const Timing& timing) {
  const std::lock_guard guard(mutex_);
  timings_[name_of(place, key)] = timing;
  if (!read_problem_.empty() || !write_problem_.empty()) return;
  try {
    append({place, key, timing});
  } catch (const Error& error) {
    write_problem_ = error.what();
  }
}

void TimingCache::make_folder() const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!error) return;
  fail(ErrorCode::bad_file, folder_, ": cannot make the folder: ", error.message());
}

void TimingCache::append(const TimingEntry& entry) {
  if (lines_ == 0) make_folder();
  const std::string line = line_of(entry);
  if (line.size() > kMostTimingLineBytes) return;  // it could not be read back
  append_line(path_, line);
  bytes_ += line.size() + 1;
  ++lines_;
  if (!wants_rewrite()) return;
  rewrite_lines(path_, 2 * kReadable * most_bytes_, [&](const std::string& text) {
    std::string result = condensed(text, most_bytes_ / 2);
    bytes_ = result.size();
    lines_ = static_cast<std::size_t>(std::ranges::count(result, '\n'));
    return result;
  });
  is_damaged_ = false;
}

bool TimingCache::wants_rewrite() const {
  return bytes_ > most_bytes_ || is_damaged_ || lines_ > 2 * timings_.size() + kSpareLines;
}

void TimingCache::require_writable() {
  const std::lock_guard guard(mutex_);
  std::string problem = read_problem_;
  try {
    if (problem.empty()) {
      make_folder();
      require_appendable(path_);
    }
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) fail(ErrorCode::usage, "cache of timings: ", problem);
}

std::string TimingCache::notice() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> parts;
  if (!read_problem_.empty()) parts.push_back(read_problem_);
  if (bad_lines_ > 0) {
    parts.push_back("ignored " + std::to_string(bad_lines_) + " lines that are no timings, first " +
                    std::to_string(first_bad_line_));
  }
  std::size_t others = 0;
  for (const auto& [place, count] : in_file_) others += count;
  const bool is_strange =
      std::ranges::any_of(was_asked_, [](const auto& asked) { return !asked.second; });
  if (is_strange && others > 0) {
    parts.push_back("none of its " + std::to_string(others) +
                    " timings is of this device and these versions");
  }
  if (!write_problem_.empty()) parts.push_back("nothing is kept: " + write_problem_);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  if (text.empty()) return "";
  return "cache of timings: " + (read_problem_.empty() ? path_ + ": " : "") + text;
}

}  // namespace winnow
