// Measured times that outlive the process: a file in a folder, shared by all that run on it.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/plan/timing_line.h"

namespace winnow {

// The file FOLDER/timings.jsonl: lines as timing_line.h has them, of any number of devices, models
// and versions. New entries are appended, each by one write, so that several processes may share a
// folder; of entries with one key the last counts.
//
// A cache only saves time: nothing that is in the file, or keeps it from being read or written,
// makes a function throw, save want of memory. What was wrong is told by notice().
//
// May be used by several threads.
class TimingCache {
 public:
  static constexpr char kFileName[] = "timings.jsonl";

  // Of the file. It is written anew, with the last entry of each key, when it has grown beyond
  // this or holds other lines; of what is more than half of it the oldest go.
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  // Reads what is there; a folder that is missing is made when something is kept.
  explicit TimingCache(std::string folder, std::size_t most_bytes = kMostBytes);

  // "DIR/timings.jsonl"
  const std::string& path() const { return path_; }

  std::optional<Timing> find(const TimingPlace& place, const std::string& key) const;

  // Keeps it at once, in the file too.
  void keep(const TimingPlace& place, const std::string& key, const Timing& timing);

  // Throws Error{usage} with path and reason if nothing can be kept in the folder, which is made.
  void require_writable();

  // What was wrong, in one line with the path; empty if nothing was:
  //  - the file or folder cannot be read or written,
  //  - lines are no entries; but not that the last one was cut off, as a crashed writer leaves it,
  //  - a place was asked for of which there is nothing, though there is of others.
  std::string notice() const;

 private:
  using Entries = std::unordered_map<std::string, Timing>;

  void read();
  void read_lines(const std::string& text);
  void append(const TimingEntry& entry);
  void make_folder() const;
  bool wants_rewrite() const;

  std::string folder_;
  std::string path_;
  std::size_t most_bytes_;
  mutable std::mutex mutex_;
  Entries timings_;                                // by place and key
  std::map<std::string, std::size_t> in_file_;     // entries by place, when the file was read
  mutable std::map<std::string, bool> was_asked_;  // by place: whether the file had it
  std::size_t bad_lines_ = 0;                      // when it was read
  std::size_t first_bad_line_ = 0;
  std::size_t bytes_ = 0;  // of the file, as far as this process knows
  std::size_t lines_ = 0;
  bool is_damaged_ = false;  // lines of it are no entries
  std::string read_problem_, write_problem_;
};

}  // namespace winnow
